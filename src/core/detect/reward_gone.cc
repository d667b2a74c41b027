// A reward that goes below zero, and never was zero, is exactly zero in record after record: no answer is scored any
// more. "zero-reward" looks for the floor of a reward; here zero is none.
#include <algorithm>
#include <optional>
#include <span>

#include "base/text.h"
#include "core/detect/tools/print_step.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kBefore{"before", 10, "points", "None of them zero", "own"};
constexpr Knob kMixed{"mixed", 5, "points", "In a row, of a reward that was above zero and below",
                      "zero-reward, sudden"};
constexpr Knob kPenalty{"penalty", 10, "points", "In a row, of a reward that was always below zero", "own"};
constexpr Knob kWindow{"window", 50, "points", "Right before, for its level and noise", "field guide 4.1"};
constexpr Knob kLevel{"level", 10, "points", "Right before, for the level of a penalty", "own"};
constexpr Knob kFine{"fine", 5, "x", "What it is printed to: so much is its noise, so that zero is no rounding", "own"};
constexpr Knob kFar{"far", 1.5, "sigma",
                    "So far from zero lay the level of a penalty: what comes near to zero by degrees is learned",
                    "own"};
constexpr Knob kNear{"near", 0.2, "ratio", "Of that level: nearer to zero came no more than `few` of the records",
                     "own"};
constexpr Knob kFew{"few", 0.1, "ratio", "See `near`", "own"};
constexpr Knob kAhead{"ahead", 8, "points", "So far ahead lay zero at the pace of the last records", "own"};
constexpr Knob kLong{"long", 20, "points", "Of a reward that was above zero, too: no curriculum", "zero-reward, long"};
constexpr Knob kBack{"recovered", 3, "points", "Off zero in a row end it", "hysteresis"};
constexpr Knob kKnobs[] = {kBefore, kMixed, kPenalty, kWindow, kLevel, kFine, kFar, kNear, kFew, kAhead, kLong, kBack};

struct GoneWalk {
  double lowest = 0, highest = 0;  ///< before the streak
  size_t streak = 0, back = 0;
  bool had_zero = false, mixed = false;
  std::optional<size_t> first, detected, grave, ended;
  size_t last = 0;

  void step(const Track& track, size_t i) {
    const double value = track.values[i];
    if (detected) return go_on(value, i);
    if (had_zero) return;
    if (value != 0) {
      had_zero = streak > 0;
      lowest = i == 0 ? value : std::min(lowest, value);
      highest = i == 0 ? value : std::max(highest, value);
      return;
    }
    ++streak;
    const size_t begin = i + 1 - streak;
    mixed = highest > 0;
    had_zero = begin < points_of(kBefore) || lowest >= 0;
    if (had_zero || streak < points_of(mixed ? kMixed : kPenalty)) return;
    had_zero = !at_once(track, begin);
    if (had_zero) return;
    first = begin;
    detected = last = i;
  }

 private:
  bool at_once(const Track& track, size_t begin) const {
    const auto before = track.slice(begin - std::min(begin, points_of(kWindow)), begin);
    const double sigma = noise(before);
    if (!(sigma >= kFine.value * print_step(before))) return false;
    if (mixed) return true;
    const double level = median_of_last(track.slice(0, begin), points_of(kLevel));
    if (level > -kFar.value * sigma || on_its_way(before)) return false;
    return quantile({before.begin(), before.end()}, 1 - kFew.value) <= kNear.value * level;
  }

  /// Some records more would have brought it to zero.
  static bool on_its_way(std::span<const double> before) {
    const size_t half = points_of(kLevel) / 2;
    const double last = median_of_last(before, half);
    const double sooner = median_of_last(before.first(before.size() - half), half);
    return -last < kAhead.value * (last - sooner) / static_cast<double>(half);
  }

  void go_on(double value, size_t i) {
    if (ended) return;
    back = value == 0 ? 0 : back + 1;
    if (value == 0) last = i;
    if (mixed && !grave && i + 1 - *first >= points_of(kLong) && value == 0) grave = i;
    if (back >= points_of(kBack)) ended = i;
  }
};

/// Answers that differ, or right ones, in the same steps.
bool contradicted(const State& state, const Point& from, const Point& to) {
  for (const std::string_view name : {"reward.max", "reward.std", "reward.pass_rate"}) {
    const auto level = level_between(state.find(name), to.attempt, from.step, to.step);
    if (level && *level > 0) return true;
  }
  return false;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const Series* reward = reward_series(state);
  if (reward == nullptr || !(reward->min() < 0) || follows_teacher(state)) return;
  for (KeptTrack& track : memory.tracks(state, reward)) {
    const GoneWalk& walk = track.follow("reward-gone", GoneWalk{});
    if (!walk.detected) continue;
    const size_t now = walk.grave.value_or(*walk.detected);
    const Point& onset = track.points[*walk.first];
    if (contradicted(state, onset, track.points[*walk.detected])) continue;
    // No answer is punished any more, or none is scored: where all are known to be equal, zero-advantage reports it.
    if (!walk.mixed && says_spread(state)) continue;
    const bool grave = walk.grave && !walk.ended;
    Finding finding = make_finding(
        "reward-gone", "zero-reward", grave ? Severity::kCritical : Severity::kWarning, onset, track.points[now],
        cat("Reward is exactly 0 since step ", onset.step, ", in ", walk.last + 1 - *walk.first, " records to step ",
            track.points[walk.last].step, ", and never was before"));
    add_figures(finding, track, *walk.first - 1, now, 4);
    finding.suggests.push_back({"reward-sudden-zero", 0.6, "it lay elsewhere in each record before"});
    finding.suggests.push_back({"reward-function-broken-all-zero", 0.4, "what scores no answer gives 0"});
    if (walk.ended) resolve(finding, track.points[*walk.ended]);
    out.push_back(std::move(finding));
  }
}

}  // namespace

extern const Detector reward_gone;
const Detector reward_gone{"reward-gone",
                           "A reward that goes below zero, and never was zero, is exactly zero in record after record.",
                           {"zero-reward"},
                           kKnobs,
                           judge};

}  // namespace mw::detect
