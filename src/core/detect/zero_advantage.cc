// All rewards within (nearly) all groups are equal: no gradient, although the reward itself is not at its floor.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kShare{"uniform_share", 0.95, "ratio",
                      "Share of groups without signal; less is common near the ceiling of easy data",
                      "failure catalogue, zero-advantage-all-groups (0.9 for 10 steps); field guide 4.3 rule 12"};
constexpr Knob kPersist{"persist", 10, "points", "Solved or hopeless batches come in runs",
                        "failure catalogue, zero-advantage-all-groups"};
constexpr Knob kChance{
    "chance", 1e-4, "probability",
    "With one group per step uniform steps come by chance: the streak must be longer than their share so far explains",
    "geometric run length, p^k"};
constexpr Knob kSolved{"solved", 0.9, "ratio",
                       "Above this share of the reward's range the data is solved, which is arguable, not a fault",
                       "DAPO, dynamic sampling"};
constexpr Knob kKnobs[] = {kShare, kPersist, kChance, kSolved};

/// The first streak of uniform points that is longer than chance explains.
bool find_streak(const Track& track, double least, bool at_most, size_t& first, size_t& detected) {
  size_t streak = 0, uniform_before = 0;
  for (size_t i = 0; i < track.size(); ++i) {
    if (at_most ? track.values[i] > least : track.values[i] < least) {
      uniform_before += streak;
      streak = 0;
      continue;
    }
    ++streak;
    const size_t before = i + 1 - streak;
    const double share = (static_cast<double>(uniform_before) + 1) / (static_cast<double>(before) + 2);
    const double by_chance = std::ceil(std::log(kChance.value) / std::log(std::min(share, 0.999)));
    if (streak < points_of(kPersist) || static_cast<double>(streak) < by_chance) continue;
    first = before;
    detected = i;
    return true;
  }
  return false;
}

Severity severity_of(const State& state, JudgeMemory& memory, const Point& from, const Point& to, std::string& why) {
  for (const Track& reward : memory.tracks(state, reward_series(state))) {
    size_t end = 0;
    bool any = false;
    for (size_t i = 0; i < reward.size(); ++i) {
      if (reward.points[i].attempt == to.attempt && reward.points[i].step <= to.step) {
        end = i;
        any = true;
      }
    }
    if (!any) continue;
    const auto level = level_between(reward.series, to.attempt, from.step, to.step);
    if (!level) continue;
    const RewardScale scale = reward_scale(state, reward, end);
    const double share = scale.share(*level);
    if (solved(state, scale, *level, kSolved.value)) {
      why = "the data is solved";
      return Severity::kInfo;
    }
    if (share <= 0.02) {
      why = "all rewards are at the floor";
      return Severity::kInfo;  // zero-reward and reward-collapse report this chain
    }
  }
  return Severity::kWarning;
}

void add_finding(const State& state, JudgeMemory& memory, const Track& track, size_t first, size_t detected,
                 std::vector<Finding>& out) {
  std::string why;
  const Severity severity = severity_of(state, memory, track.points[first], track.points[detected], why);
  std::string summary =
      cat("No group has differing rewards since step ", track.points[first].step, ": there is no gradient");
  if (!why.empty()) summary += cat(" (", why, ")");
  Finding finding = make_finding("zero-advantage", "zero-advantage", severity, track.points[first],
                                 track.points[detected], std::move(summary));
  add_figures(finding, track, first, detected, 4);
  finding.suggests.push_back({"zero-advantage-all-groups", 0.7, "equal rewards within every group"});
  out.push_back(std::move(finding));
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const size_t before = out.size();
  size_t first = 0, detected = 0;
  for (const Track& track : memory.tracks(state, state.find("reward.zero_std_groups"))) {
    if (find_streak(track, kShare.value, false, first, detected))
      add_finding(state, memory, track, first, detected, out);
  }
  if (out.size() > before || state.find("reward.zero_std_groups") != nullptr) return;
  for (const std::string_view name : {"advantage.std", "reward.std"}) {
    for (const Track& track : memory.tracks(state, state.find(name))) {
      if (find_streak(track, 0, true, first, detected)) add_finding(state, memory, track, first, detected, out);
    }
    if (out.size() > before) return;
  }
}

}  // namespace

extern const Detector zero_advantage;
const Detector zero_advantage{"zero-advantage",
                              "All rewards in nearly all groups are equal, so nothing can be learned.",
                              {"zero-advantage"},
                              kKnobs,
                              judge};

}  // namespace mw::detect
