// The policy runs away from its reference: KL far above its level, for good, without reward to show for it.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 20, "points", "KL starts at zero; its level shows after warm-up",
                        "field guide 4.1 (10-20 steps)"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 5, "x", "Times the level before the rise",
                       "field guide 4.3 rule 7 (x5 over 10 steps)"};
constexpr Knob kDelta{"delta", 0.5, "nats", "And at least this much above it", "failure catalogue, kl-explosion (0.5)"};
constexpr Knob kPersist{"persist", 4, "points", "Single spikes heal",
                        "real runs show lone KL spikes of 100 x that heal in one step"};
constexpr Knob kGain{"reward_gain", 0.1, "ratio", "A reward that rises by this much pays for its KL",
                     "field guide 4.3 rule 7"};
constexpr Knob kLoss{"reward_loss", 0.2, "ratio", "Fall of the reward that makes it critical",
                     "field guide 4.3 rule 7"};
constexpr Knob kBeyond{"beyond", 100, "nats", "Too much by any convention, summed over tokens or not",
                       "trainers that sum over the answer show 5-30 in healthy runs"};
constexpr Knob kFar{"far", 50, "nats",
                    "Of as many points as a level takes: so far away, what a reward pays says little of the answers",
                    "as beyond; reward models are optimised past their truth within tens of nats"};
constexpr Knob kSlowFactor{"slow_factor", 10, "x", "A slow rise: times the lowest level after warm-up", "own"};
constexpr Knob kSlowDelta{"slow_delta", 1, "nats", "And at least this much above it, while the reward falls", "own"};
constexpr Knob kSlowLoss{"slow_loss", 0.15, "ratio",
                         "Fall of the reward without which a slow rise is how training goes", "field guide 4.3 rule 7"};
constexpr Knob kStanding{"standing", 2, "nats per token",
                         "A policy so far away that pays nothing is lost, however slowly it went",
                         "rldoctor (KL of 2 while progress is flat)"};
constexpr Knob kNear{"near", 0.5, "nats", "Where a KL per token begins; sums over an answer begin higher", "own"};
constexpr Knob kBlind{"blind", 5, "nats",
                      "Without a reward: a slow rise above the level after warm-up by this and `blind_factor` times it",
                      "own"};
constexpr Knob kBlindFactor{"blind_factor", 100, "x", "See `blind`", "own"};
constexpr Knob kBack{"back", 10, "points",
                     "In a row near the first level again: one that a limit alone, or the first records, had shown is "
                     "over",
                     "hysteresis"};
constexpr Knob kClimb{"climb", 2, "x",
                      "Of the records before, as the level of the last ones: a KL that has found its level does not "
                      "double",
                      "own"};
constexpr Knob kClimbTrend{"climb_trend", 2.5, "sigma", "Mann-Kendall score within those last ones", "Mann 1945"};
constexpr Knob kLost{"lost", 30, "nats",
                     "As the median of a level, and `lost_factor` times the one after warm-up: lost, whatever a reward "
                     "says",
                     "trainers that sum over the answer show 5-30 in healthy runs"};
constexpr Knob kGrown{
    "grown", 3, "x",
    "Of the first level: a KL that has grown so far to `lost`, by whatever convention, and pays nothing", "own"};
constexpr Knob kLostFactor{"lost_factor", 1000, "x", "See `lost`", "own"};
constexpr Knob kEarly{"early", 3, "points",
                      "So few are a level where as many in a row lie `blind` above zero and `blind_factor` times above "
                      "their largest, and the reward gains nothing",
                      "own"};
constexpr Knob kShort{
    "short", 10, "points",
    "So few records near zero are a level where KL leaves it by `slow_factor` and `standing`, and the "
    "reward gains nothing",
    "field guide 4.1 (10-20 steps)"};
constexpr Knob kAgain{"again", 3, "points",
                      "Of more than `beyond`, however far apart: a lone one heals, and so many are how the run goes",
                      "own; the estimator is an exponential of single tokens' log-ratios (Schulman 2020, k3)"};
constexpr Knob kKnobs[] = {kBack,       kClimb,    kClimbTrend, kHistory, kWidth,  kFactor,      kDelta,
                           kPersist,    kAgain,    kGain,       kLoss,    kBeyond, kSlowFactor,  kSlowDelta,
                           kSlowLoss,   kStanding, kNear,       kFar,     kBlind,  kBlindFactor, kLost,
                           kLostFactor, kEarly,    kGrown,      kShort};

/// Over the tokens of an answer, by its name.
bool is_sum(const Track& track) { return track.series != nullptr && contains(track.series->raw, "objective/"); }

Severity severity_of(const State& state, const Point& onset, const Point& now, bool ended) {
  const auto reward = outcome_of(state, onset, now);
  if (reward && reward->share() > kGain.value) return Severity::kInfo;
  if (reward && reward->share() < -kLoss.value && !ended) return Severity::kCritical;
  return Severity::kWarning;
}

/// A rise that grows by a factor at each step carries the level right before it along: it began where that level did.
Rise from_its_beginning(const Track& track, Rise rise) {
  constexpr double kLeft = 2;  // times the level
  const auto level_at = [&](size_t i) { return median_of_last(track.slice(0, i + 1), points_of(kWidth)); };
  size_t i = rise.onset;
  double level = level_at(i);
  for (; i > points_of(kWidth); --i) {
    const double before = level_at(i - 1);
    if (!(before < level)) break;
    level = before;
  }
  if (!(level > 0) || track.values[rise.onset] < kFactor.value * level) return rise;
  size_t onset = rise.onset;
  while (onset > 0 && onset + points_of(kWidth) > i && track.values[onset - 1] > kLeft * level) --onset;
  rise.onset = onset;
  rise.base = std::min(rise.base, level);
  return rise;
}

constexpr double kSingle = 10;  // times the level: a record so far above it is named instead

size_t largest_of(const Track& track, const Rise& rise) {
  const auto begin = track.values.begin();
  const auto at = [begin](size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
  return static_cast<size_t>(std::max_element(at(rise.onset), at(rise.detected + 1)) - begin);
}

/// Where KL that no level before it explains is near to where it began again.
std::optional<size_t> near_again(const Track& track, size_t detected, double base) {
  const double near = std::max(kNear.value, 2 * base);
  return back_at(track, detected, points_of(kBack), [near](double value) { return value < near; });
}

void add_finding(const State& state, const Track& track, const Rise& found, std::vector<Finding>& out,
                 bool from_beginning = true) {
  const Point& now = track.points[found.detected];
  const Severity severity = severity_of(state, track.points[found.onset], now, found.ended.has_value());
  const Rise rise = from_beginning ? from_its_beginning(track, found) : found;
  const Point& onset = track.points[rise.onset];
  const size_t most = largest_of(track, rise);
  const bool single = track.values[most] > kSingle * rise.peak;
  Finding finding =
      make_finding("kl-runaway", "kl-runaway", severity, onset, now,
                   cat("KL to the reference rose from ", rise.base, " to ", single ? track.values[most] : rise.peak,
                       " nats ", single ? cat("at step ", track.points[most].step) : cat("since step ", onset.step),
                       single ? std::string() : and_further(track, change_of(rise))));
  add_figures(finding, track, rise.onset > 0 ? rise.onset - 1 : 0, rise.detected);
  finding.suggests.push_back({"kl-explosion", 0.6, cat("KL ", rise.peak, " against a level of ", rise.base)});
  if (rise.ended) resolve(finding, track.points[*rise.ended]);
  out.push_back(std::move(finding));
}

/// So large that no level is needed to judge it: above `least` for `points` in a row.
std::optional<Rise> beyond(const Track& track, double least, size_t points) {
  size_t streak = 0;
  for (size_t i = 0; i < track.size(); ++i) {
    streak = track.values[i] > least ? streak + 1 : 0;
    if (streak < points) continue;
    Rise rise;
    rise.onset = rise.first = i + 1 - streak;
    rise.detected = i;
    rise.base = track.values[0];
    rise.peak = track.values[i];
    rise.ended = near_again(track, i, rise.base);
    return rise;
  }
  return std::nullopt;
}

/// Too far away by any measure, whatever the reward pays for it. Takes the place of the findings from `before` on where
/// none of them is more than information.
void judge_far(const State& state, const Track& track, size_t before, std::vector<Finding>& out) {
  const auto first = out.begin() + static_cast<std::ptrdiff_t>(before);
  if (std::any_of(first, out.end(), [](const Finding& one) { return one.severity > Severity::kInfo; })) return;
  std::optional<Rise> far = beyond(track, kBeyond.value, points_of(kPersist));
  if (!far) {
    far = beyond(track, kFar.value, points_of(kWidth));
    if (!far) return;
    while (far->onset > 0 && track.values[far->onset - 1] > kFar.value / 5) --far->onset;  // on its way there
    far->first = far->onset;
  }
  out.resize(before);
  add_finding(state, track, *far, out);
  out.back().severity = std::max(out.back().severity, Severity::kWarning);
}

/// A rise so slow that no window shows it, and a reward that falls meanwhile.
void judge_slow(const State& state, KeptTrack& track, std::vector<Finding>& out) {
  const RiseRule rule{points_of(kHistory), points_of(kWidth), kSlowFactor.value, kSlowDelta.value, points_of(kPersist)};
  for (Rise rise : track.rises("kl-runaway, slow", rule)) {
    const auto harmed = harmed_at(state, track, rise, kSlowLoss.value);
    if (!harmed) continue;
    rise.detected = *harmed;
    add_finding(state, track, rise, out);
    return;
  }
}

/// A level of `standing` that began near zero. Names of sums over an answer are left out: such sums stand there in
/// healthy runs.
struct StandWalk {
  std::optional<size_t> first, detected;
  size_t streak = 0;
  double least = 0;  // of the first points

  void step(const Track& track, size_t i) {
    const double value = track.values[i];
    if (i < points_of(kPersist)) least = i == 0 ? value : std::min(least, value);
    if (detected) return;
    streak = value >= kStanding.value / 2 ? streak + 1 : 0;
    if (streak == 0) first.reset();
    if (streak == 1) first = i;
    if (!first || streak < points_of(kWidth) || least > kNear.value) return;
    const auto window = track.slice(i + 1 - points_of(kWidth), i + 1);
    if (quantile({window.begin(), window.end()}, 0.5) >= kStanding.value) detected = i;
  }
};

/// Too far from the reference by any measure of one token, and nothing gained by it.
void judge_standing(const State& state, KeptTrack& track, std::vector<Finding>& out) {
  if (is_sum(track)) return;
  const StandWalk& walk = track.follow("kl-runaway, standing", StandWalk{});
  if (!walk.detected) return;
  Rise rise;
  rise.onset = rise.first = *walk.first;
  // On its way there the reward may have been lost, of which part comes back.
  size_t near = rise.onset;
  while (near > 0 && track.values[near - 1] >= kNear.value / 2) --near;
  rise.detected = *walk.detected;
  rise.base = walk.least;
  // What pays for it at first may be lost later.
  for (size_t i = *walk.detected; i < track.size(); i += 1 + (i - *walk.detected) / 8) {
    const auto window = track.slice(i + 1 - points_of(kWidth), i + 1);
    if (quantile({window.begin(), window.end()}, 0.5) < kStanding.value) return;
    const auto reward = outcome_of(state, track.points[near], track.points[i]);
    if (!reward || reward->share() > kGain.value) continue;
    rise.detected = i;
    rise.peak = track.values[i];
    rise.ended = near_again(track, i, rise.base);
    add_finding(state, track, rise, out);
    out.back().severity = std::max(out.back().severity, Severity::kWarning);
    return;
  }
}

/// A level several times that of the first records and beyond what sums over an answer come to in healthy runs.
struct GrownWalk {
  double begin = 0;
  std::optional<size_t> detected;

  void step(const Track& track, size_t i) {
    const size_t width = points_of(kWidth);
    if (i + 1 == width) begin = median_of_last(track.slice(0, width), width);
    if (detected || i + 1 < 2 * width || track.values[i] < kLost.value / 2) return;
    const double level = median_of_last(track.slice(0, i + 1), width);
    if (level >= kLost.value && level >= kGrown.value * begin) detected = i;
  }
};

void judge_grown(const State& state, KeptTrack& track, std::vector<Finding>& out) {
  constexpr double kLeft = 2;  // times the first level
  if (!(track.series->max() >= kLost.value)) return;
  const GrownWalk& walk = track.follow("kl-runaway, grown", GrownWalk{});
  if (!walk.detected || !(walk.begin > 0)) return;
  Rise rise;
  rise.detected = rise.onset = *walk.detected;
  const auto level_at = [&](size_t i) { return median_of_last(track.slice(0, i + 1), points_of(kPersist)); };
  while (rise.onset > 0 && level_at(rise.onset - 1) > kLeft * walk.begin) --rise.onset;
  rise.first = rise.left = rise.onset;
  rise.base = walk.begin;
  rise.peak = median_of_last(track.slice(0, rise.detected + 1), points_of(kWidth));
  const auto reward = outcome_of(state, track.points[rise.onset], track.points[rise.detected]);
  if (reward && reward->share() <= kGain.value) add_finding(state, track, rise, out);
}

/// A policy begins as its reference: a KL of `standing` in each of the first records is that to another model.
bool judge_start(const State& state, KeptTrack& track, std::vector<Finding>& out) {
  if (track.size() < points_of(kWidth) || track.points[0].step > 2 || track.points[0].attempt > 0) return false;
  if (is_sum(track)) return false;
  const size_t last = points_of(kWidth) - 1;
  const auto begin = track.slice(0, last + 1);
  const double least = *std::min_element(begin.begin(), begin.end());
  if (!(least >= kStanding.value)) return false;
  const auto reward = outcome_of(state, track.points[last], track.points.back());
  const bool pays = reward && reward->share() > kGain.value;  // the distance may be meant
  Finding finding = make_finding(
      "kl-runaway", "kl-runaway", pays ? Severity::kInfo : Severity::kWarning, track.points[0], track.points[last],
      cat("KL to the reference is ", track.values[0], " nats in the first record already, and never below ", least,
          " after it: the policy did not begin as its reference"));
  add_figures(finding, track, 0, last);
  finding.suggests.push_back({"reference-is-another-model", 0.6, cat("KL ", track.values[0], " before any learning")});
  out.push_back(std::move(finding));
  return true;
}

/// From nothing in the first records to a level of `blind` in a row, and all the way up: sums over an answer stand
/// there in healthy runs, and stand.
struct ClimbWalk {
  std::optional<Rise> found;
  bool over = false;  // the first level that is high enough decides

  void step(const Track& track, size_t i) {
    const size_t width = points_of(kWidth);
    if (over || i + 1 < points_of(kHistory) || !(track.values[0] < kNear.value)) return;
    const auto last = track.slice(i + 1 - width, i + 1);
    const double level = median({last.begin(), last.end()}),
                 before = median_of_last(track.slice(0, i + 1 - width), width);
    if (level < kBlind.value || level < kClimb.value * before) return;
    over = true;
    if (level < kBlindFactor.value * std::abs(track.values[0]) || trend_score(last) < kClimbTrend.value) return;
    Rise rise;
    rise.onset = i;
    while (rise.onset > 0 && track.values[rise.onset - 1] > kStanding.value) --rise.onset;
    rise.first = rise.onset;
    rise.detected = i;
    rise.base = track.values[0];
    rise.peak = track.values[i];
    found = rise;
  }
};

/// A slow rise where no reward is known that could pay for it.
void judge_blind(KeptTrack& track, const State& state, std::vector<Finding>& out) {
  const std::optional<Rise>& climb = track.follow("kl-runaway, climb", ClimbWalk{}).found;
  if (climb) return add_finding(state, track, *climb, out);
  const RiseRule rule{points_of(kHistory), points_of(kWidth), kBlindFactor.value, kBlind.value, points_of(kPersist)};
  const std::vector<Rise> found = track.rises("kl-runaway, blind", rule);
  if (!found.empty()) add_finding(state, track, found.front(), out);
}

/// The level of the first records is left behind before there are enough of them for the other rules.
void judge_early(const State& state, const Track& track, std::vector<Finding>& out) {
  const size_t few = points_of(kEarly);
  std::optional<Rise> rise = early_rise(track, {few, kBlindFactor.value, kBlind.value, points_of(kHistory)});
  if (!rise) return;
  while (rise->onset > few && track.values[rise->onset - 1] > 2 * rise->base) --rise->onset;
  rise->ended = near_again(track, rise->detected, rise->base);
  const auto reward = outcome_of(state, track.points[rise->onset], track.points[rise->detected]);
  if (!reward || reward->share() > kGain.value) return;
  add_finding(state, track, *rise, out);
  if (rise->ended) out.back().severity = Severity::kInfo;  // few records, and no level before them that was left
}

/// The same of a KL per token, of which less is too far.
void judge_short(const State& state, KeptTrack& track, std::vector<Finding>& out) {
  if (track.size() == 0 || !(track.values[0] < kNear.value) || !(track.series->max() > kStanding.value)) return;
  const RiseRule rule{
      points_of(kShort), points_of(kShort), kSlowFactor.value, kStanding.value, points_of(kPersist), 0, false};
  for (const Rise& rise : track.rises("kl-runaway, short", rule)) {
    if (rise.onset >= points_of(kHistory)) return;
    const auto reward = outcome_of(state, track.points[rise.onset], track.points[rise.detected]);
    if (reward && reward->share() <= kGain.value) return add_finding(state, track, rise, out, false);
  }
}

/// Two decades of KL within as many records as all before them: no sum over longer answers grows like that.
std::optional<Rise> explosion_of(const Track& track) {
  size_t near = 0;  // the last record that lay a hundredth as far away
  for (size_t i = 0; i < track.size(); ++i) {
    if (track.values[i] < kLost.value / kBlindFactor.value) near = i;
    if (track.values[i] < kLost.value || i < near + points_of(kWidth) || near < points_of(kHistory)) continue;
    if (i - near > near + points_of(kWidth)) return std::nullopt;
    const double level = median_of_last(track.slice(0, i + 1), points_of(kWidth));
    const double base = median_of_last(track.slice(0, near), near);
    if (level < kLost.value || level < kLostFactor.value * base) continue;
    Rise rise;
    rise.onset = rise.first = near;
    while (rise.onset > points_of(kWidth) && track.values[rise.onset - 1] > 2 * base) --rise.onset;
    rise.detected = i;
    rise.base = base;
    rise.peak = level;
    return rise;
  }
  return std::nullopt;
}

/// So far away, and so fast, that it is critical whatever else was found.
void judge_lost(const State& state, const Track& track, size_t before, std::vector<Finding>& out) {
  std::optional<Rise> rise = explosion_of(track);
  if (!rise) return;
  const bool back = median_of_last(track.values, points_of(kWidth)) < kNear.value;
  if (back) rise->ended = near_again(track, rise->detected, 0);
  out.resize(before);
  add_finding(state, track, *rise, out);
  out.back().severity = back ? Severity::kWarning : Severity::kCritical;
}

/// Records of more than `beyond` again and again: of single tokens, and with a KL term in it the loss is theirs.
struct AgainWalk {
  std::vector<size_t> found;  // the first `again` of them
  size_t most = 0;

  void step(const Track& track, size_t i) {
    if (!(track.values[i] > kBeyond.value)) return;
    if (found.size() < points_of(kAgain)) found.push_back(i);
    if (!(track.values[i] <= track.values[most])) most = i;
  }
};

void judge_again(KeptTrack& track, std::vector<Finding>& out) {
  const AgainWalk& walk = track.follow("kl-runaway, again", AgainWalk{});
  if (walk.found.size() < points_of(kAgain)) return;
  const double usual = median_of_last(track.values, track.size());
  if (!(usual * kSingle < kBeyond.value)) return;
  Finding finding = make_finding(
      "kl-runaway", "kl-runaway", Severity::kWarning, track.points[walk.found.front()], track.points[walk.found.back()],
      cat("KL to the reference is beyond ", kBeyond.value, " nats again and again, ", track.values[walk.most],
          " at step ", track.points[walk.most].step, ", where ", usual, " is usual: single tokens that the ",
          "reference finds all but impossible"));
  add_figures(finding, track, 0, walk.found.back());
  finding.suggests.push_back(
      {"kl-of-single-tokens", 0.6, cat("KL ", track.values[walk.most], " against a usual ", usual)});
  out.push_back(std::move(finding));
}

void judge_track(const State& state, KeptTrack& track, size_t before, std::vector<Finding>& out) {
  judge_far(state, track, before, out);
  if (out.size() > before || judge_start(state, track, out)) return;
  judge_slow(state, track, out);
  if (out.size() == before) judge_standing(state, track, out);
  if (out.size() == before) judge_grown(state, track, out);
  if (out.size() > before || is_sum(track)) return;
  judge_short(state, track, out);
  if (out.size() > before || !(track.series->max() > kBlind.value)) return;
  if (!has_reward(state)) judge_blind(track, state, out);
  if (out.size() == before) judge_early(state, track, out);
  if (out.size() == before) judge_again(track, out);
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const RiseRule rule{
      points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value, points_of(kPersist), 0, false};
  for (KeptTrack& track : memory.tracks(state, state.find("kl.ref"))) {
    const size_t before = out.size();
    for (const Rise& rise : track.rises("kl-runaway", rule)) add_finding(state, track, rise, out);
    judge_track(state, track, before, out);
    if (!is_sum(track) && track.series->max() > kLost.value) judge_lost(state, track, before, out);
  }
}

}  // namespace

extern const Detector kl_runaway;
const Detector kl_runaway{
    "kl-runaway", "The policy runs away from its reference and gains nothing by it.", {"kl-runaway"}, kKnobs, judge};

}  // namespace mw::detect
