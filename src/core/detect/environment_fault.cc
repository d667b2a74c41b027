// Tools, sandbox, judge or verifier fail or time out more than they normally do.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/failing_figures.h"
#include "core/detect/support/unread_answers.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 5, "points", "A level needs a few points", "own"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kRate{"rate", 0.1, "ratio", "Share of samples lost", "field guide 4.3 rule 23 (5 % is a smell)"};
constexpr Knob kFactor{"factor", 4, "x", "Times its level", "own"};
constexpr Knob kPersist{"persist", 2, "points", "A burst of failures poisons rewards at once", "own"};
constexpr Knob kStanding{"standing", 0.3, "ratio", "Share that is a fault from the first step on", "own"};
constexpr Knob kHalf{"half", 0.5, "ratio", "Share of one step's samples: the update is not what it was meant to be",
                     "own"};
constexpr Knob kBack{"back", 5, "points", "So many in a row at the usual share: it is over", "own"};
constexpr Knob kUsual{"usual", 2, "x", "Its level, or half of \"rate\": the usual share", "own"};
constexpr Knob kCalls{"calls", 50, "calls", "Counted calls before their failures are judged", "own"};
constexpr Knob kCountedShare{"counted_share", 0.2, "ratio",
                             "Share of counted calls that fail by the environment's fault", "own"};
constexpr Knob kLost{"lost", 20, "messages", "Of rollouts that failed, before they are judged", "own"};
constexpr Knob kLostShare{"lost_share", 0.1, "ratio", "Of all rollouts since the first such message", "as rate"};
constexpr Knob kKnobs[] = {kHistory,   kWidth,      kRate,        kFactor,    kPersist,      kStanding,
                           kHalf,      kBack,       kUsual,       kCalls,     kCountedShare, kLost,
                           kLostShare, kNamedShare, kNamedFactor, kRewardFell};

/// Is the share what is usual in the last points of the track?
bool is_back(const Track& track, size_t now, double base) {
  const size_t many = points_of(kBack);
  if (track.size() <= now + many) return false;
  const double usual = std::max(kUsual.value * base, kRate.value / 2);
  const auto last = track.slice(track.size() - many, track.size());
  double sum = 0;
  for (const double share : last) sum += share;
  const bool calm =
      std::all_of(last.begin(), last.end(), [&](double share) { return share < std::max(kRate.value, usual); });
  return calm && sum <= usual * static_cast<double>(many);
}

/// `name`: the trainer's own name of the figure, which may say whose failures it counts.
void add_finding(std::string_view name, const Track& track, size_t onset, size_t now, double base,
                 std::vector<Finding>& out) {
  Finding finding = make_finding(
      "environment-fault", "environment-fault", Severity::kWarning, track.points[onset], track.points[now],
      cat(format_short(100 * track.values[now], 3),
          " % of the samples are lost to environment or judge errors; usual is ", format_short(100 * base, 3), " %"));
  add_figures(finding, track, onset > 0 ? onset - 1 : 0, now);
  if (is_back(track, now, base)) {
    const Point& point = track.points[track.size() - points_of(kBack)];
    finding.resolved = true;
    finding.resolved_at = {point.step, point.at, point.where, point.attempt};
    finding.summary += "; it is over, the share is as usual again";
  }
  const bool judged = contains_folded(name, "judge") || contains_folded(name, "verif");
  finding.suggests.push_back({judged ? "judge-api-rate-limit" : "tool-execution-timeout", 0.4,
                              judged ? "a judge that refuses calls looks like this"
                                     : "tools or an environment that do not answer in time look like this"});
  finding.suggests.push_back({"env-server-crash-empty-outputs", 0.3, "a tool server that is down looks like this"});
  out.push_back(std::move(finding));
}

bool judge_rate(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const RiseRule rule{
      points_of(kHistory), points_of(kWidth), kFactor.value, kRate.value, points_of(kPersist), 0, false};
  const size_t before = out.size();
  const Series* rate = state.find("env.error_rate");
  const std::string_view name = rate == nullptr ? std::string_view() : rate->raw;
  for (KeptTrack& track : memory.tracks(state, rate)) {
    for (const Rise& rise : track.rises("environment-fault", rule))
      add_finding(name, track, rise.onset, rise.detected, rise.base, out);
    for (size_t i = 0; i < track.size() && out.size() == before; ++i) {
      if (track.values[i] > kHalf.value) add_finding(name, track, i, i, i > 0 ? track.values[0] : 0, out);
    }
    size_t streak = 0;
    for (size_t i = 0; i < track.size() && out.size() == before; ++i) {
      streak = track.values[i] > kStanding.value ? streak + 1 : 0;
      if (streak == points_of(kHistory)) add_finding(name, track, i + 1 - streak, i, 0, out);
    }
  }
  return out.size() > before;
}

/// Does the message say that a rollout was lost? One that is tried again is not.
bool says_lost(const TemplateState& message) {
  constexpr std::array<std::string_view, 6> kLosses = {"rollout failed",   "rollout error",  "trajectory failed",
                                                       "trajectory error", "episode failed", "failed rollout"};
  if (message.level < event::Logged::Level::kWarning) return false;
  if (contains_folded(message.text, "retry") || contains_folded(message.text, "attempt")) return false;
  return std::any_of(kLosses.begin(), kLosses.end(), [&](auto word) { return contains_folded(message.text, word); });
}

/// The log says of a good part of all rollouts that they failed, whatever the reward makes of it.
bool judge_lost(const State& state, std::vector<Finding>& out) {
  const auto each = rollouts_per_step(state);
  const State::Span steps = state.steps();
  if (!each || steps.count < 2) return false;
  uint64_t times = 0;
  const TemplateState* most = nullptr;
  for (const TemplateState& message : state.templates) {
    if (!says_lost(message)) continue;
    times += message.count;
    if (most == nullptr || message.count > most->count) most = &message;
  }
  if (static_cast<double>(times) < kLost.value) return false;
  const int64_t first = std::max(most->first.step, steps.first);
  const double all = *each * static_cast<double>(steps.last - first + 1);
  if (static_cast<double>(times) < kLostShare.value * all) return false;
  Finding finding;
  finding.kind = finding.detector = "environment-fault";
  finding.onset = most->first;
  finding.onset.step = first;
  finding.detected = most->last;
  finding.summary = cat(times, " of about ", std::llround(all), " rollouts since step ", first, " failed, ",
                        most->count, " times \"", clip(most->text, 160), "\"");
  finding.evidence.push_back({most->first.where, clip(most->text, kTextLimit), "", kNoStep, 0});
  finding.suggests.push_back({"env-server-crash-empty-outputs", 0.5, cat("the log says so ", most->count, " times")});
  out.push_back(std::move(finding));
  return true;
}

/// The run records the share of its samples that are lost, and that share is small: it knows of how many the failures
/// are, while a log names each that fails and few of those that do not.
bool rate_is_low(const State& state, JudgeMemory& memory) {
  size_t count = 0;
  double sum = 0;
  for (const Track& track : memory.tracks(state, state.find("env.error_rate"))) {
    for (size_t i = 0; i < track.size(); ++i) sum += track.values[i];
    count += track.size();
  }
  return count >= points_of(kHistory) && sum < kRate.value * static_cast<double>(count);
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  if (judge_rate(state, memory, out) || judge_lost(state, out)) return;
  if (auto finding = failing_figure(state, memory)) {
    out.push_back(std::move(*finding));
    return;
  }
  uint64_t calls = 0, errors = 0;
  for (const auto& [function, tool] : state.tools) {
    calls += tool.calls;
    errors += tool.environment_errors + tool.timeouts;
  }
  if (static_cast<double>(calls) < kCalls.value ||
      static_cast<double>(errors) < kCountedShare.value * static_cast<double>(calls) || rate_is_low(state, memory))
    return;
  Finding finding;
  finding.kind = finding.detector = "environment-fault";
  finding.onset = state.attempts.empty() ? Moment{} : state.attempts.front().began;
  finding.detected = state.attempts.empty() ? Moment{} : state.attempts.back().last;
  finding.summary = cat(errors, " of ", calls, " tool calls fail or time out by the environment's fault");
  finding.suggests.push_back({"env-server-crash-empty-outputs", 0.4, "tool calls fail in the environment"});
  out.push_back(std::move(finding));
}

}  // namespace

extern const Detector environment_fault;
const Detector environment_fault{"environment-fault",
                                 "Tools, sandbox, judge or verifier fail more than they normally do.",
                                 {"environment-fault"},
                                 kKnobs,
                                 judge};

}  // namespace mw::detect
