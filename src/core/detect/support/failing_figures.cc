#include "core/detect/support/failing_figures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr size_t kBefore = 2;   // points: an evaluation comes seldom
constexpr size_t kAround = 10;  // records of the reward on either side

/// Where a figure left its level for good, and the most that it was before.
struct Jump {
  size_t first = 0;
  double before = 0;
};
std::optional<Jump> jumped(const Series& series) {
  const auto& points = series.points();
  if (points.size() <= kBefore || !(series.last() >= kNamedShare.value)) return std::nullopt;
  // What costs least first: this is asked of each figure at each record.
  if (points.front().value >= kNamedShare.value || !counts_failures(series.raw)) return std::nullopt;
  size_t first = points.size();
  while (first > 0 && points[first - 1].value >= kNamedShare.value) --first;
  if (first < kBefore) return std::nullopt;
  double most = 0;
  for (size_t i = 0; i < first; ++i) {
    if (std::isfinite(points[i].value)) most = std::max(most, points[i].value);
  }
  return points[first].value >= kNamedFactor.value * most ? std::optional(Jump{first, most}) : std::nullopt;
}

/// The reward's levels around a step, where it fell far enough, and the record that shows it.
struct Fall {
  double from = 0, to = 0;
  Point seen;
};
std::optional<Fall> fell_at(const State& state, JudgeMemory& memory, const Point& at) {
  for (const Track& track : memory.tracks(state, reward_series(state))) {
    const size_t split = points_until(track, at.step);
    const size_t from = split > kAround ? split - kAround : 0, to = std::min(track.size(), split + kAround);
    if (split - from < kBefore || to - split < kBefore || track.points[split].attempt != at.attempt) continue;
    const auto before = track.slice(from, split), since = track.slice(split, to);
    const double high = median({before.begin(), before.end()}), low = median({since.begin(), since.end()});
    if (high - low >= kRewardFell.value * std::abs(high) && high > low)
      return Fall{high, low, track.points[split + kBefore - 1]};
  }
  return std::nullopt;
}

}  // namespace

bool counts_failures(std::string_view name) {
  constexpr std::array<std::string_view, 5> kFails = {"timeout", "timed_out", "fail", "error", "unreachable"};
  constexpr std::array<std::string_view, 12> kWho = {"search", "tool",   "retriev", "sandbox", "judge", "verif",
                                                     "api",    "server", "request", "call",    "exec",  "env"};
  constexpr std::array<std::string_view, 6> kOwn = {"format", "pars", "decod", "std", "penalty", "reward"};
  const auto holds = [name](std::string_view word) { return contains_folded(name, word); };
  return std::any_of(kFails.begin(), kFails.end(), holds) && std::any_of(kWho.begin(), kWho.end(), holds) &&
         std::none_of(kOwn.begin(), kOwn.end(), holds);
}

std::optional<Finding> failing_figure(const State& state, JudgeMemory& memory) {
  const Series* worst = nullptr;
  Jump jump;
  for (const std::vector<Series>* all : {&state.series, &state.eval}) {
    for (const Series& series : *all) {
      const auto at = jumped(series);
      if (!at) continue;
      if (worst == nullptr || series.last() > worst->last()) {
        worst = &series;
        jump = *at;
      }
    }
  }
  if (worst == nullptr) return std::nullopt;
  const Point& onset = worst->points()[jump.first];
  const auto fell = fell_at(state, memory, onset);
  if (!fell) return std::nullopt;
  Finding finding =
      make_finding("environment-fault", "environment-fault", Severity::kWarning, onset, fell->seen,
                   cat(worst->raw, " is ", format_short(onset.value, 3), " at step ", onset.step, ", and was ",
                       format_short(jump.before, 3), " at most before; the reward fell with it, from ",
                       format_short(fell->from, 4), " to ", format_short(fell->to, 4)));
  for (const Point& point : {worst->points()[jump.first - 1], onset})
    add_figure(finding, worst->raw, point.step, point.value);
  const bool late = contains_folded(worst->raw, "time");
  finding.suggests.push_back({late ? "tool-execution-timeout" : "env-server-crash-empty-outputs", 0.5,
                              "what answers the policy fails by the run's own count"});
  finding.suggests.push_back({late ? "env-server-crash-empty-outputs" : "tool-execution-timeout", 0.4,
                              "a server that is down or overloaded looks like this"});
  return finding;
}

}  // namespace mw::detect
