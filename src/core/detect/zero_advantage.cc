// All rewards within (nearly) all groups are equal: no gradient, although the reward itself is not at its floor.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/learned_to_avoid.h"
#include "core/detect/support/settled.h"
#include "core/detect/support/spread.h"
#include "core/detect/support/stands_low.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/detect/tools/true_measure.h"
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
constexpr Knob kMost{"most", 0.8, "ratio", "Mean share of `short` records that is a fault by itself", "own"};
constexpr Knob kWorth{"worth", 0.2, "ratio",
                      "Gain of the reward, of its range, for which a run may waste even `most` of its groups", "own"};
constexpr Knob kShort{"short", 10, "points", "Fewer records say little",
                      "failure catalogue, zero-advantage-all-groups"};
constexpr Knob kHalf{"half", 0.5, "ratio", "The same of `long` records: half of the rollouts are wasted",
                     "rldoctor (50 % of the groups while not saturated)"};
constexpr Knob kLong{"long", 20, "points", "A cold start may last as long", "own"};
constexpr Knob kMixed{"mixed", 0.6, "ratio",
                      "The same of twice `long` records that say only whether all rewards of a step are equal: of one "
                      "group per step two in five may be",
                      "own"};
constexpr Knob kMostSteps{"most_steps", 0.75, "ratio",
                          "The same of the steps, as far as records that are means of several of them show it", "own"};
constexpr Knob kQuarter{"quarter", 0.25, "ratio", "Fewer records without any spread show nothing of the steps in them",
                        "own"};
constexpr Knob kReason{"reason", 0.1, "ratio", "Groups that are too easy or too hard, or answers lost to errors: named",
                       "field guide 4.3 rule 12 (split: too hard, solved)"};
constexpr Knob kCut{"cut", 0.5, "ratio", "Answers that are cut off: named; less is common in runs that learn", "own"};
constexpr Knob kAllCut{"all_cut", 0.9, "ratio",
                       "Answers that are cut off: what nearly all of them earn in full is not looked for in them",
                       "own"};
constexpr Knob kFew{"few", 20, "steps",
                    "A run that is over and whose few records, each the mean of several steps, are all without spread",
                    "a Trainer's record is the mean of its logging_steps"};
constexpr Knob kAlive{"alive", 0.05, "norm",
                      "A gradient of this size does not come of the penalty for leaving the reference alone", "own"};
constexpr Knob kNever{"never", 5, "points",
                      "All advantages equal and no gradient in each record from the first one on: so few are enough "
                      "where they are all that a run which is over has",
                      "own"};
constexpr Knob kEasy{
    "easy", 0.8, "ratio",
    "Of so many steps or more, all with equal rewards at the top of the reward's range, it is worth a line", "`most`"};
constexpr Knob kKnobs[] = {kEasy,   kNever, kMostSteps, kQuarter, kWorth,  kAlive,  kMixed,
                           kAllCut, kFew,   kShare,     kPersist, kChance, kSolved, kMost,
                           kShort,  kHalf,  kLong,      kFlat,    kNear,   kReason, kCut};

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

/// Windows in which too many groups are uniform, one in every kShort points.
struct Wasteful {
  static constexpr size_t kLimit = 64;  // windows kept
  struct Window {
    size_t first = 0, last = 0;
  };
  using Test = std::pair<size_t, double>;  ///< records, and the mean share of them that is too much
  std::array<Test, 2> tests = {Test{points_of(kShort), kMost.value}, Test{points_of(kLong), kHalf.value}};
  std::vector<Window> windows;

  void step(const Track& track, size_t i) {
    if (windows.size() >= kLimit || (!windows.empty() && i < windows.back().last + points_of(kShort))) return;
    for (const auto& [width, least] : tests) {
      if (i + 1 < width) continue;
      if (mean(track.slice(i + 1 - width, i + 1)) < least) continue;
      windows.push_back({i + 1 - width, i});
      return;
    }
  }
};

constexpr std::string_view kSolvedInWords = "the data is solved";

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
    const auto cut = level_between(state.find("response.truncated"), to.attempt, from.step, to.step);
    const bool unread = cut && *cut >= kAllCut.value;
    const bool shows = *level > 0 || (*level == 0 && learned_to_avoid(state, reward, scale, from, to, kSolved.value));
    if (shows && !unread && solved(state, scale, *level, kSolved.value) &&
        !nothing_was_right(state, to.attempt, from.step, to.step)) {
      why = kSolvedInWords;
      return Severity::kInfo;
    }
    if (share <= 0.02) {
      why = "all rewards are at the floor";
      return Severity::kInfo;  // zero-reward and reward-collapse report this chain
    }
  }
  return Severity::kWarning;
}

/// Why groups teach nothing, as far as the run says: the level of each share over those steps, largest reasons first in
/// the table's order. Shares of groups come before those of answers.
struct Reason {
  std::string_view signal;
  double least;            ///< below it is no reason
  std::string_view words;  ///< after "12 % of the "; of what it is a share
  std::string_view cause;  ///< that it suggests
};
constexpr double kMostWeight = 0.5;  // of a suggested cause: below that of equal rewards themselves
constexpr Reason kReasons[] = {
    {"reward.unsolved_groups", kReason.value, "groups have no right answer", "task-too-hard"},
    {"reward.solved_groups", kReason.value, "groups have right answers only", "task-too-easy"},
    {"env.error_rate", kReason.value, "answers were lost to errors", ""},
    {"response.truncated", kCut.value, "answers are cut off", "response-limit-too-small"},
};

void add_reasons(const State& state, Finding& finding) {
  std::string text;
  for (const Reason& reason : kReasons) {
    const auto level =
        level_between(state.find(reason.signal), finding.onset.attempt, finding.onset.step, finding.detected.step);
    if (!level || *level < reason.least) continue;
    const std::string words = cat(format_short(100 * *level, 3), " % of the ", reason.words);
    text += cat(text.empty() ? "; " : ", ", words);
    add_figure(finding, reason.signal, finding.detected.step, *level);
    if (!reason.cause.empty()) finding.suggests.push_back({std::string(reason.cause), kMostWeight * *level, words});
  }
  finding.summary += text;
}

/// Where waste ended: its last wasteful record, and the one that showed the end.
struct Ended {
  size_t last = 0, shown = 0;
  bool past = false;  ///< the run has gone on without it for as long as it lasted
};

/// The end of waste that began at `first` and was found at `detected`: by now most groups have had differing rewards
/// for long enough.
std::optional<Ended> ended_after(const Track& track, size_t first, size_t detected) {
  const size_t after = track.size() - 1 - detected;
  if (after < points_of(kShort)) return std::nullopt;
  const size_t recent = std::min(after, points_of(kLong));
  if (mean(track.slice(track.size() - recent, track.size())) >= kHalf.value) return std::nullopt;
  Ended ended;
  ended.shown = detected + points_of(kShort);
  while (ended.shown + 1 < track.size() &&
         mean(track.slice(ended.shown + 1 - points_of(kShort), ended.shown + 1)) >= kHalf.value) {
    ++ended.shown;
  }
  ended.last = ended.shown;
  while (ended.last > first && track.values[ended.last] < kHalf.value) --ended.last;
  ended.past = track.size() - 1 - ended.last > ended.last - first;
  return ended;
}

/// `uniform`: the share of groups without a spread at the same points.
void add_finding(const State& state, JudgeMemory& memory, const Track& track, const Track& uniform, size_t first,
                 size_t detected, std::vector<Finding>& out) {
  std::string why;
  Severity severity = severity_of(state, memory, track.points[first], track.points[detected], why);
  const std::optional<Ended> ended = ended_after(uniform, first, detected);
  if (ended && ended->past) severity = Severity::kInfo;
  const int64_t begun = track.points[first].step;
  size_t row = detected;  // the last record without a difference before the first with one
  while (row + 1 < uniform.size() && uniform.values[row + 1] >= kShare.value) ++row;
  const bool broken = !ended && row + 1 < uniform.size();
  const size_t last = ended ? ended->last : row;
  std::string summary =
      ended || broken ? cat("No group had differing rewards from step ", begun, " to step ", track.points[last].step,
                            ": there was no gradient", broken ? ", and there has seldom been one since" : "")
                      : cat("No group has differing rewards since step ", begun, ": there is no gradient");
  if (!why.empty()) summary += cat(" (", why, ")");
  Finding finding = make_finding("zero-advantage", "zero-advantage", severity, track.points[first],
                                 track.points[detected], std::move(summary));
  if (ended) resolve(finding, track.points[ended->shown]);
  add_figures(finding, track, first, detected, 4);
  finding.suggests.push_back({"zero-advantage-all-groups", 0.7, "equal rewards within every group"});
  add_reasons(state, finding);
  out.push_back(std::move(finding));
}

/// `of`: groups or steps, of which `track` has the wasted share. Waste that is past, or from which the reward rose
/// after all, is information.
void add_share(const State& state, JudgeMemory& memory, const Track& track, const Wasteful::Window& window,
               std::string_view of, std::vector<Finding>& out) {
  size_t first = window.first;
  while (first < window.last && track.values[first] < kHalf.value) ++first;
  const std::optional<Ended> ended = ended_after(track, first, window.last);
  size_t last = window.last;  // a resumed attempt has too few rewards at first to say whether they rise
  while (last + 1 < track.size() && track.points[last + 1].attempt == track.points[window.last].attempt) ++last;
  const double share = mean(track.slice(first, ended ? ended->last + 1 : track.size()));
  const auto rises_by = [&](double gain) {
    return has_reward(state) && !stands_low(state, memory, track.points[window.first], track.points[last], gain);
  };
  const bool slightly = !ended && rises_by(kFlat.value);
  const bool rose = slightly && (share < kMost.value || rises_by(kWorth.value));
  const bool quiet = rose || (ended && ended->past);
  std::string summary = cat("In ", format_short(100 * share, 3), " % of the ", of, " all rewards ");
  const int64_t begun = track.points[first].step;
  if (ended) {
    summary += cat("were equal from step ", begun, " to step ", track.points[ended->last].step);
  } else {
    const std::string_view reward = rose       ? ", though the reward has risen"
                                    : slightly ? ", and the reward hardly rises"
                                               : ", and the reward does not rise";
    summary += cat("are equal since step ", begun, has_reward(state) ? reward : "", ": most rollouts teach nothing");
  }
  Finding finding = make_finding("zero-advantage", "zero-advantage", quiet ? Severity::kInfo : Severity::kWarning,
                                 track.points[first], track.points[window.last], std::move(summary));
  if (ended) resolve(finding, track.points[ended->shown]);
  add_figures(finding, track, first, window.last, 4);
  finding.suggests.push_back({"zero-advantage-all-groups", 0.6, "equal rewards within most groups"});
  add_reasons(state, finding);
  out.push_back(std::move(finding));
}

/// Most groups or steps teach nothing since all of their answers are right: nothing is left to learn from this data.
void judge_solved(const State& state, JudgeMemory& memory, const Track& uniform,
                  const std::vector<Wasteful::Window>& windows, std::string_view of, std::vector<Finding>& out) {
  for (const Wasteful::Window& window : windows) {
    const size_t last = uniform.size() - 1;
    std::string why;
    const Point &from = uniform.points[window.first], &to = uniform.points[last];
    if (mean(uniform.slice(window.first, last + 1)) < kEasy.value) continue;
    if (severity_of(state, memory, from, to, why) != Severity::kInfo || why != kSolvedInWords) continue;
    add_share(state, memory, uniform, window, of, out);
    out.back().severity = Severity::kInfo;
    out.back().summary += cat(" (", why, ": nothing is left to learn)");
    return;
  }
}

/// Where a step shows nothing but whether all of its rewards are equal.
constexpr std::array<Wasteful::Test, 2> kSteps = {Wasteful::Test{points_of(kLong), kMost.value},
                                                  Wasteful::Test{2 * points_of(kLong), kMixed.value}};

/// Most steps have no gradient at all, though not all of them one behind the other.
void judge_wasted(const State& state, JudgeMemory& memory, const Track& spread, Wasteful found,
                  std::vector<Finding>& out) {
  const auto equal = std::count(spread.values.begin(), spread.values.end(), 0.0);
  if (static_cast<double>(equal) < std::min(kMost.value * kShort.value, kHalf.value * kLong.value)) return;
  const Track uniform = uniform_in(spread);
  for (size_t i = 0; i < uniform.size(); ++i) found.step(uniform, i);
  for (const Wasteful::Window& window : found.windows) {
    if (!stands_low(state, memory, uniform.points[window.first], uniform.points[window.last])) continue;
    add_share(state, memory, uniform, window, "steps", out);
    return;
  }
  judge_solved(state, memory, uniform, found.windows, "steps", out);
}

/// No record has a gradient or a loss.
bool never_moved(const State& state, const Track& spread) {
  if (spread.size() < points_of(kNever)) return false;
  if (std::any_of(spread.values.begin(), spread.values.end(), [](double value) { return value != 0; })) return false;
  const auto is_zero = [](const Series* series) { return series->min() == 0 && series->max() == 0; };
  const Series* gradient = state.find("grad_norm");
  const Series* loss = state.find("loss.policy") != nullptr ? state.find("loss.policy") : state.find("loss.total");
  if (gradient == nullptr || gradient->count() < points_of(kNever) || !is_zero(gradient)) return false;
  return loss == nullptr || loss->empty() || is_zero(loss);
}

/// Most records of the reward lie on its floor, and not all of them: zero-reward waits for more of them.
bool earns_seldom(const State& state) {
  const Series* reward = reward_series(state);
  if (reward == nullptr || reward->empty() || !(reward->max() > reward->min()) || reward->min() > 0) return false;
  const auto on = std::count_if(reward->points().begin(), reward->points().end(),
                                [least = reward->min()](const Point& point) { return point.value == least; });
  return 2 * static_cast<size_t>(on) > reward->points().size();
}

/// That there was no gradient in any of its few records is all that a run which is over shows; one that is going may
/// have a cold start.
void judge_never(const State& state, JudgeMemory& memory, const Track& spread, std::vector<Finding>& out) {
  const size_t last = points_of(kNever) - 1;
  add_finding(state, memory, spread, uniform_in(spread), 0, last, out);
  Finding& finding = out.back();
  if (!is_over(state, spread.points[last].attempt)) finding.severity = Severity::kInfo;
  if (is_over(state, spread.points[last].attempt) && earns_seldom(state)) finding.severity = Severity::kWarning;
}

/// Where neither a share of groups nor a deviation is recorded, but the largest and the smallest of a step.
void judge_extremes(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const size_t before = out.size();
  for (const auto& [most, least] :
       {std::pair{"advantage.max", "advantage.min"}, std::pair{"reward.max", "reward.min"}}) {
    auto& upper = memory.tracks(state, state.find(most));
    auto& lower = memory.tracks(state, state.find(least));
    for (size_t i = 0; i < std::min(upper.size(), lower.size()); ++i) {
      const Track spread = spread_of(upper[i], lower[i]);
      size_t first = 0, detected = 0;
      if (find_streak(spread, 0, true, first, detected)) {
        add_finding(state, memory, spread, uniform_in(spread), first, detected, out);
      } else if (most == std::string_view("advantage.max") && never_moved(state, spread)) {
        judge_never(state, memory, spread, out);
      } else {
        judge_wasted(state, memory, spread, {}, out);
      }
    }
    if (out.size() > before || !upper.empty()) return;
  }
}

/// TRL writes the mean over the steps since the last record: where that is 0, no group of those steps had a spread.
bool is_short_and_uniform(const State& state, const Track& track) {
  constexpr size_t kRecords = 2;
  if (track.size() < kRecords || state.framework != "trl") return false;
  const Point& last = track.points.back();
  return track.points[0].step > 1 && static_cast<double>(last.step) >= kFew.value && is_over(state, last.attempt) &&
         std::all_of(track.values.begin(), track.values.end(), [](double value) { return value == 0; });
}

/// Do most records of the reward between two steps differ from the one before?
bool reward_moves(const State& state, JudgeMemory& memory, const Point& from, const Point& to) {
  for (const Track& reward : memory.tracks(state, reward_series(state))) {
    size_t records = 0, moved = 0;
    for (size_t i = 1; i < reward.size(); ++i) {
      const Point& point = reward.points[i];
      if (point.attempt != to.attempt || point.step <= from.step || point.step > to.step) continue;
      ++records;
      moved += reward.values[i] != reward.values[i - 1] ? 1 : 0;
    }
    if (records > 0) return 2 * moved > records;
  }
  return false;
}

/// A spread that is 0 from the first record on, while the gradient lives and the reward moves, is none that anybody
/// measures: of groups of one sample, or a column that is never filled.
bool is_unmeasured(const State& state, JudgeMemory& memory, const Track& track, size_t first, size_t detected) {
  if (first != 0) return false;
  const Point &from = track.points[first], &to = track.points[detected];
  const auto gradient = level_between(state.find("grad_norm"), to.attempt, from.step, to.step);
  return gradient && *gradient >= kAlive.value && reward_moves(state, memory, from, to);
}

/// The first window in which so many groups have no spread that it is a fault.
std::optional<Wasteful::Window> faulty_window(const State& state, JudgeMemory& memory, KeptTrack& track) {
  for (const Wasteful::Window& window : track.follow("zero-advantage", Wasteful{}).windows) {
    const double share = mean(track.slice(window.first, window.last + 1));
    // Without a reward nobody can say what the rest teaches: only what is a fault by itself is one.
    const bool fault = has_reward(state)
                           ? stands_low(state, memory, track.points[window.first], track.points[window.last])
                           : share >= kMost.value;
    if (fault) return window;
  }
  return std::nullopt;
}

/// After a row of records in which no group differed, some do, though too few for an end: what holds from its first
/// record to the last is a share.
bool is_broken(const Track& track, size_t first, size_t detected) {
  const auto since = track.slice(detected + 1, track.size());
  const bool differs = std::any_of(since.begin(), since.end(), [](double value) { return value < kShare.value; });
  return differs && !ended_after(track, first, detected);
}

void judge_groups(const State& state, JudgeMemory& memory, KeptTrack& track, std::vector<Finding>& out) {
  size_t first = 0, detected = 0;
  const bool streak = find_streak(track, kShare.value, false, first, detected);
  if (streak && is_broken(track, first, detected)) {
    std::string why;
    const bool known = severity_of(state, memory, track.points[first], track.points[detected], why) == Severity::kInfo;
    // Most groups may have gone without a spread long before.
    const auto sooner = faulty_window(state, memory, track);
    const Wasteful::Window row{first, detected};
    add_share(state, memory, track, sooner && sooner->last + points_of(kPersist) <= detected ? *sooner : row, "groups",
              out);
    if (known) {
      out.back().severity = Severity::kInfo;
      out.back().summary += cat(" (", why, ")");
    }
    return;
  }
  if (streak) add_finding(state, memory, track, track, first, detected, out);
  if (streak && out.back().severity == Severity::kInfo) return;
  const auto window = faulty_window(state, memory, track);
  if (!window && !streak) {
    const auto& windows = track.follow("zero-advantage", Wasteful{}).windows;
    return judge_solved(state, memory, track, windows, "groups", out);
  }
  if (!window || (streak && window->last + points_of(kPersist) > detected)) return;
  // Most groups may have gone without a spread long before the first row of records in which all did.
  std::vector<Finding> shares;
  add_share(state, memory, track, *window, "groups", shares);
  if (streak && shares.front().severity == Severity::kInfo) return;
  if (streak) out.pop_back();
  out.push_back(std::move(shares.front()));
}

/// The steps of which each of TRL's records is the mean.
double steps_of_record(const State& state, const Track& track) {
  if (state.framework != "trl" || track.size() < 2) return 1;
  std::vector<double> gaps;
  for (size_t i = 1; i < track.size(); ++i) {
    gaps.push_back(static_cast<double>(track.points[i].step - track.points[i - 1].step));
  }
  return std::max(1.0, median(std::move(gaps)));
}

/// Records of several steps each, so many of them without any spread that most steps are.
void judge_means(const State& state, JudgeMemory& memory, const Track& spread, double steps,
                 std::vector<Finding>& out) {
  const auto equal = std::count(spread.values.begin(), spread.values.end(), 0.0);
  if (static_cast<double>(equal) < kQuarter.value * static_cast<double>(spread.size())) return;
  const Track uniform = uniform_steps(spread, steps, points_of(kShort));
  Wasteful found{kSteps, {}};
  found.tests[0].second = kMostSteps.value;
  for (size_t i = 0; i < uniform.size(); ++i) found.step(uniform, i);
  for (const Wasteful::Window& window : found.windows) {
    if (!stands_low(state, memory, uniform.points[window.first], uniform.points[window.last])) continue;
    add_share(state, memory, uniform, window, "steps", out);
    return;
  }
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const size_t before = out.size();
  size_t first = 0, detected = 0;
  for (KeptTrack& track : memory.tracks(state, state.find("reward.zero_std_groups"))) {
    judge_groups(state, memory, track, out);
  }
  if (out.size() > before || state.find("reward.zero_std_groups") != nullptr) return;
  for (const std::string_view name : {"advantage.std", "reward.std"}) {
    for (const Track& track : memory.tracks(state, state.find(name))) {
      if (find_streak(track, 0, true, first, detected)) {
        if (is_unmeasured(state, memory, track, first, detected)) continue;
        add_finding(state, memory, track, uniform_in(track), first, detected, out);
      } else if (is_short_and_uniform(state, track)) {
        add_finding(state, memory, track, uniform_in(track), 0, track.size() - 1, out);
      } else if (const double steps = steps_of_record(state, track); steps > 1) {
        judge_means(state, memory, track, steps, out);
      } else {
        judge_wasted(state, memory, track, name == "advantage.std" ? Wasteful{} : Wasteful{kSteps, {}}, out);
      }
    }
    if (out.size() > before || state.find(name) != nullptr) return;
  }
  judge_extremes(state, memory, out);
}

}  // namespace

extern const Detector zero_advantage;
const Detector zero_advantage{"zero-advantage",
                              "All rewards in nearly all groups are equal, so nothing can be learned.",
                              {"zero-advantage"},
                              kKnobs,
                              judge};

}  // namespace mw::detect
