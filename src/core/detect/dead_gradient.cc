// Gradients that were there are exactly zero in record after record: nothing is learned any more. Where the run says
// that the rewards of no group differ, that is why, and "zero-advantage" reports it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "core/detect/support/spread.h"
#include "core/detect/tools/print_step.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kZero{"zero", 10, "points", "In a row with a gradient of exactly zero", "no-learning, zero_gradient"};
constexpr Knob kAlive{"alive", 5, "points", "Of the same attempt before it whose gradient was one",
                      "some trainers write 0 for a norm that they never take"};
constexpr Knob kResumed{"resumed", 30, "points",
                        "In a row with which a resumed attempt begins, after one that had gradients, while its reward "
                        "does not rise",
                        "own; one that still learns takes the norm no more"};
constexpr Knob kRises{"rises", 2, "standard errors", "Of the trend of the reward meanwhile", "own"};
constexpr Knob kWindow{"window", 50, "points", "Right before, by whose share of zeros it may be chance", "own"};
constexpr Knob kChance{"chance", 1e-4, "probability",
                       "Of so many zeros in a row, where uniform groups bring single ones", "as zero-reward"};
constexpr Knob kFine{"fine", 20, "x",
                     "What it is printed to: the level right before was so many times larger, and did not fade away",
                     "own"};
constexpr Knob kFaded{"faded", 0.2, "ratio",
                      "Of the level of `window`, to which it had come right before: it faded as the task was learned",
                      "own"};
constexpr Knob kVanished{"vanished", 0.05, "ratio", "Of the level of the first `begin` records: likewise",
                         "gradient-spike, faded"};
constexpr Knob kBegin{"begin", 20, "points", "See `vanished`", "field guide 4.1 (10-20)"};
constexpr Knob kSolved{"solved", 0.9, "ratio", "Of the reward's range: nothing is left to learn", "as no-learning"};
constexpr Knob kFloor{"floor", 0.02, "ratio", "Of the reward's range: zero-reward reports it", "as zero-advantage"};
constexpr Knob kBack{"back", 3, "points", "With a gradient in a row end it", "hysteresis"};
constexpr Knob kKnobs[] = {kZero,  kAlive,    kResumed, kRises,  kWindow, kChance, kFine,
                           kFaded, kVanished, kBegin,   kSolved, kFloor,  kBack};

struct Dead {
  size_t first = 0, detected = 0, last = 0;
  bool resumed = false;  ///< only an attempt before had gradients
  std::optional<size_t> ended;
};

/// Zeros in a row that are more than chance explains.
struct DeadWalk {
  std::vector<Dead> found;
  size_t streak = 0, back = 0;

  void step(const Track& track, size_t i) {
    const bool zero = track.values[i] == 0;
    streak = zero ? streak + 1 : 0;
    if (!found.empty() && !found.back().ended) return go_on(zero, i);
    constexpr size_t kReported = 4;
    if (streak < points_of(kZero) || found.size() >= kReported) return;
    const size_t first = i + 1 - streak;
    if (by_chance(track, first)) return;
    const size_t begin = first_of_attempt(track, i);
    // A later training of the same script begins where the first one did, and may be of another kind.
    const bool goes_on = begin > 0 && track.points[begin].step > track.points[0].step;
    const bool here = was_alive(track, begin, first);
    const bool before = !here && goes_on && streak >= points_of(kResumed) && was_alive(track, 0, first);
    if (here || before) found.push_back({first, i, i, before, std::nullopt});
    back = 0;
  }

 private:
  void go_on(bool zero, size_t i) {
    back = zero ? 0 : back + 1;
    if (zero) found.back().last = i;
    if (back >= points_of(kBack)) found.back().ended = i;
  }

  bool by_chance(const Track& track, size_t first) const {
    const auto before = track.slice(first - std::min(first, points_of(kWindow)), first);
    const auto zeros = static_cast<double>(std::count(before.begin(), before.end(), 0.0));
    const double share = (zeros + 1) / (static_cast<double>(before.size()) + 2);
    return std::pow(share, static_cast<double>(streak)) > kChance.value;
  }

  static size_t first_of_attempt(const Track& track, size_t now) {
    size_t first = now;
    while (first > 0 && track.points[first - 1].attempt == track.points[now].attempt) --first;
    return first;
  }

  /// Was there a gradient in front of `first`, from `from` on?
  static bool was_alive(const Track& track, size_t from, size_t first) {
    std::vector<double> before;
    for (size_t i = first; i > from && before.size() < points_of(kWindow); --i) {
      if (track.values[i - 1] != 0) before.push_back(track.values[i - 1]);
    }
    if (before.size() < points_of(kAlive)) return false;
    const double printed = print_step(before), usual = median(before);
    before.resize(std::min(before.size(), points_of(kZero)));
    const double level = median(before);
    const auto first_ones = track.slice(0, std::min(first, points_of(kBegin)));
    const double begin = median({first_ones.begin(), first_ones.end()});
    return level >= kFine.value * printed && level >= std::max(kFaded.value * usual, kVanished.value * begin);
  }
};

/// What the reward says by itself: that nothing is left to learn, or that nothing is rewarded.
enum class RewardLies { kBetween, kAtCeiling, kOnFloor };

RewardLies reward_lies(const State& state, JudgeMemory& memory, const Point& from, const Point& to) {
  for (const Track& reward : memory.tracks(state, reward_series(state))) {
    std::optional<size_t> end;
    for (size_t i = 0; i < reward.size(); ++i) {
      if (reward.points[i].attempt == to.attempt && reward.points[i].step <= to.step) end = i;
    }
    const auto level = level_between(reward.series, to.attempt, from.step, to.step);
    if (!end || !level) continue;
    const RewardScale scale = reward_scale(state, reward, *end);
    if (solved(state, scale, *level, kSolved.value)) return RewardLies::kAtCeiling;
    return scale.share(*level) <= kFloor.value ? RewardLies::kOnFloor : RewardLies::kBetween;
  }
  return RewardLies::kBetween;
}

bool rises(const State& state, const Point& from, const Point& to) {
  const Series* const reward = reward_series(state);
  if (reward == nullptr) return false;
  return trend_score(last_values(*reward, to.attempt, from.step, to.step, points_of(kWindow))) > kRises.value;
}

/// `differ`: the rewards within groups do; nullopt: the run does not say.
void add_finding(const State& state, const Track& track, const Dead& dead, bool solved, std::optional<bool> differ,
                 std::vector<Finding>& out) {
  const Point &onset = track.points[dead.first], &now = track.points[dead.detected];
  const Series* loss = state.find("loss.policy") != nullptr ? state.find("loss.policy") : state.find("loss.total");
  const auto level = level_between(loss, onset.attempt, onset.step, now.step);
  const size_t records = dead.last + 1 - dead.first;
  const bool past = dead.ended && track.size() - 1 - dead.last > records;
  Finding finding =
      make_finding("dead-gradient", "no-learning", past || solved ? Severity::kInfo : Severity::kWarning, onset, now,
                   cat("The gradient is exactly zero since step ", onset.step, ", after ", track.values[dead.first - 1],
                       ", in ", records, " records", level && *level == 0 ? ", and so is the loss" : "",
                       solved           ? ", and the reward is at its ceiling: nothing is left to learn"
                       : differ == true ? ", although the rewards within groups differ: nothing is learned from them"
                                        : ": nothing is learned from them"));
  add_figures(finding, track, dead.first - 1, dead.detected, 4);
  finding.suggests.push_back({"weights-not-updating",
                              solved           ? 0.3
                              : differ == true ? 0.7
                                               : 0.55,
                              "a gradient of exactly zero, after one that was none"});
  if (differ != true)
    finding.suggests.push_back(
        {"zero-advantage-all-groups", 0.45, "equal rewards within all groups have none, either"});
  if (dead.ended) resolve(finding, track.points[*dead.ended]);
  out.push_back(std::move(finding));
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const Series* gradient = state.find("grad_norm");
  if (gradient == nullptr || gradient->min() != 0) return;
  const bool spread_is_said = says_spread(state);
  for (KeptTrack& track : memory.tracks(state, gradient)) {
    for (const Dead& dead : track.follow("dead-gradient", DeadWalk{}).found) {
      const Point &from = track.points[dead.first], &to = track.points[dead.detected];
      const std::optional<bool> differ = rewards_differ(state, to.attempt, from.step, to.step);
      if (spread_is_said && differ != true) continue;
      if (dead.resumed && rises(state, from, to)) continue;
      const RewardLies lies = reward_lies(state, memory, from, to);
      const bool at_ceiling = lies == RewardLies::kAtCeiling;
      if (lies == RewardLies::kOnFloor || (at_ceiling && differ == false)) continue;
      add_finding(state, track, dead, at_ceiling, differ, out);
    }
  }
}

}  // namespace

extern const Detector dead_gradient;
const Detector dead_gradient{"dead-gradient",
                             "Gradients that were there are exactly zero in record after record.",
                             {"no-learning"},
                             kKnobs,
                             judge};

}  // namespace mw::detect
