// Most responses are cut off at the length limit.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/settled.h"
#include "core/detect/support/stands_low.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr double kShortest = 16;   // tokens: a limit below is none of answers
constexpr double kRoundSlack = 1;  // tokens by which a limit may differ (an end token that is not counted)

constexpr Knob kShare{"share", 0.5, "ratio", "Half of the answers cannot end",
                      "failure catalogue, length-explosion-truncation (0.5); field guide 4.3 rule 13 (0.2 critical) is "
                      "common in healthy starts"};
constexpr Knob kMost{"most", 0.8, "ratio", "Nearly all: fewer points are needed", "own"};
constexpr Knob kPersist{"persist", 5, "points", "It stays", "own"};
constexpr Knob kMostPersist{"most_persist", 3, "points", "The same for nearly all", "failure catalogue (3 steps)"};
constexpr Knob kBegin{"begin", 0.3, "ratio", "Where it is said to have begun", "own"};
constexpr Knob kGlimpse{"glimpse", 2, "points", "So many at half or more are worth a line, as information", "own"};
constexpr Knob kBrief{"brief", 10, "points", "What was over within so many points is information", "own"};
constexpr Knob kImproving{"improving", 0.1, "ratio",
                          "A share that falls by this within the streak is on its way out (base models learn to stop)",
                          "healthy runs start at 0.8 and end at 0.06"};
constexpr Knob kAtCap{"at_cap", 0.995, "ratio", "Without a truncated share: the mean length is at the longest length",
                      "own"};
constexpr Knob kAtSet{"at_set", 0.98, "ratio", "The same of the limit that the run's settings state", "own"};
constexpr Knob kRound{"round", 32, "tokens",
                      "Without the longest length: limits are set in multiples of this; short answers may all be alike",
                      "own"};
constexpr Knob kStill{"still", 0.001, "ratio", "Without the longest length: the mean stands still within this", "own"};
constexpr Knob kCalm{"calm", 3, "x", "So many times less than below the limit: a running mean changes little anywhere",
                     "own"};
constexpr Knob kFew{"few", 10, "steps", "A run that is over and has logged once or twice in so many, each nearly all",
                    "a Trainer's record is the mean of its logging_steps"};
constexpr Knob kAll{"all", 0.99, "ratio",
                    "A run that is over and in each of whose records, two or more, all are cut off", "own"};
constexpr Knob kThird{"third", 1.0 / 3, "ratio",
                      "Of a run that is over, in each of whose `always` records, while the reward stands low", "own"};
constexpr Knob kAlways{"always", 10, "points", "See `third`", "own"};
constexpr Knob kLater{"later", 20, "points",
                      "So many in the mean at half of the share that was found, as are the last ones: it is over",
                      "hysteresis"};
constexpr Knob kHalved{"halved", 0.5, "ratio",
                       "Loss of the reward in the same records that makes two of them a warning",
                       "a policy that rambles loses both at once"};
constexpr Knob kJump{"jump", 0.2, "ratio", "Rise of the share that goes with it", "own"};
constexpr Knob kKnobs[] = {kLater,   kThird,       kAlways,  kHalved,    kJump,  kShare, kMost,
                           kPersist, kMostPersist, kBegin,   kImproving, kAtCap, kAtSet, kStill,
                           kCalm,    kRound,       kGlimpse, kBrief,     kFew,   kAll};

/// Does the trainer record prompt and answer as one length? Then the answer's is a difference.
bool whole_sequences(const State& state) {
  const Series* length = state.find("response.length");
  return length != nullptr && contains(length->raw, "seq_len") && contains(length->raw, " - ");
}

/// A share of responses that are cut off, and the figures that show it.
struct Shares {
  const Track& track;
  const Track& shown;
  double limit = 0;  ///< as the settings state it; 0: they do not
};

bool long_enough(const Track& track, size_t first, size_t now) {
  const auto window = track.slice(first, now + 1);
  const double least = *std::min_element(window.begin(), window.end());
  const size_t tail = std::min<size_t>(window.size(), 3);
  const double head_level = median({window.begin(), window.begin() + static_cast<std::ptrdiff_t>(tail)});
  const double tail_level = median({window.end() - static_cast<std::ptrdiff_t>(tail), window.end()});
  if (tail_level < head_level - kImproving.value) return false;
  if (window.size() >= points_of(kPersist) && tail_level < 1.001 &&
      !(first == 0 && track.values[now] < track.values[0]))
    return true;
  return window.size() >= points_of(kMostPersist) && least >= kMost.value;
}

/// Where the share that was found in first..now was low again: in a few records hardly any, or in many, the newest
/// included, no more than half of what it was, or than where it had begun.
std::optional<size_t> over_at(const Track& track, size_t first, size_t now) {
  const auto hardly = back_at(track, now, points_of(kPersist), [](double value) { return value < kBegin.value; });
  if (hardly) return hardly;
  const size_t width = points_of(kLater);
  if (track.size() < now + 1 + width) return std::nullopt;
  const double most = std::max(kBegin.value, mean(track.slice(first, now + 1)) / 2);
  const auto is_low = [&](size_t end) { return mean(track.slice(end - width, end)) <= most; };
  if (!is_low(track.size())) return std::nullopt;
  size_t end = now + 1 + width;
  while (!is_low(end)) ++end;
  return end - 1;
}

void add_finding(const State& state, const Shares& shares, size_t first, size_t now, std::vector<Finding>& out) {
  const Track& track = shares.track;
  size_t onset = first;
  while (onset > 0 && track.values[onset - 1] >= kBegin.value) --onset;
  const bool by_length = shares.shown.values[now] > 1;
  const auto percent = [&track](size_t at) { return cat(format_short(100 * track.values[at], 3), " %"); };
  const int64_t began = track.points[onset].step;
  const std::optional<size_t> over = over_at(track, first, now);
  std::string what =
      by_length ? cat("The mean length of the responses ", over ? "stood" : "stands", " at their limit of ",
                      format_short(std::max(shares.limit, shares.shown.values[now])), " tokens")
                : cat(percent(now), " of the responses ", over ? "were" : "are", " cut off at the length limit");
  if (by_length || percent(onset) == percent(now)) {
    what += over ? cat(" from step ", began, " on") : cat(" since step ", began);
  } else {
    what += cat(" by step ", track.points[now].step, ", ", percent(onset), " at step ", began);
  }
  Finding finding =
      make_finding("truncation", "truncation", Severity::kWarning, track.points[onset], track.points[now], what);
  add_figures(finding, shares.shown, onset > 0 ? onset - 1 : 0, now);
  finding.suggests.push_back({"length-explosion-truncation", 0.6, "most responses reach the length limit"});
  const auto reward = shift_of(reward_series(state), track.points[onset], track.points[now], 5);
  if (onset > 0 && reward && reward->relative() > -0.1) {
    finding.suggests.push_back(
        {"stop-token-missing-runaway", 0.3, "the reward holds: the answers are given and do not end"});
  }
  if (over) {
    resolve(finding, track.points[*over]);
    // What a model began with and has unlearnt since is no fault of the run.
    if (onset == 0 || *over + 1 - std::min(*over + 1, onset + points_of(kPersist)) <= points_of(kBrief))
      finding.severity = Severity::kInfo;
  }
  out.push_back(std::move(finding));
}

/// The share rose in the records first..now, and the reward lost half of its level in them.
bool halves_reward(const State& state, const Track& track, size_t first, size_t now) {
  if (first == 0) return false;
  const auto before = track.slice(first > points_of(kPersist) ? first - points_of(kPersist) : 0, first);
  const auto reward = outcome_of(state, track.points[first], track.points[now]);
  return track.values[now] - median({before.begin(), before.end()}) >= kJump.value && reward &&
         reward->fell(kHalved.value);
}

/// A run that is over, all of whose records were of answers that are cut off: they are few, but there are no others.
bool is_short_and_cut_off(const State& state, const Track& track, size_t streak) {
  if (track.size() == 0 || streak != track.size() || !is_over(state, track.points.back().attempt)) return false;
  const double least = *std::min_element(track.values.begin(), track.values.end());
  const bool many_steps = static_cast<double>(track.points.back().step) >= kFew.value;
  return (many_steps && least >= kMost.value) || (track.size() >= points_of(kGlimpse) && least >= kAll.value);
}

/// A third or more of the answers is lost in every record to the run's end, and nothing is learned meanwhile.
bool is_always_cut_off(const State& state, JudgeMemory& memory, const Track& track) {
  const size_t n = track.size();
  if (n < points_of(kAlways) || !is_over(state, track.points.back().attempt)) return false;
  if (*std::min_element(track.values.begin(), track.values.end()) < kThird.value) return false;
  const size_t third = n / 3;
  const bool better = mean(track.slice(n - third, n)) < mean(track.slice(0, third)) - kImproving.value;
  return !better && stands_low(state, memory, track.points[0], track.points[n - 1]);
}

void judge_track(const State& state, JudgeMemory& memory, const Shares& shares, std::vector<Finding>& out) {
  const Track& track = shares.track;
  size_t streak = 0;
  std::optional<size_t> glimpse;
  for (size_t i = 0; i < track.size(); ++i) {
    streak = track.values[i] >= kShare.value ? streak + 1 : 0;
    if (streak == points_of(kGlimpse) && !glimpse) glimpse = i;
    if (streak != 0 && long_enough(track, i + 1 - streak, i)) return add_finding(state, shares, i + 1 - streak, i, out);
  }
  if (is_short_and_cut_off(state, track, streak) || is_always_cut_off(state, memory, track))
    return add_finding(state, shares, 0, track.size() - 1, out);
  if (!glimpse) return;
  const size_t first = *glimpse + 1 - points_of(kGlimpse);
  add_finding(state, shares, first, *glimpse, out);
  if (!halves_reward(state, track, first, *glimpse)) out.back().severity = Severity::kInfo;
}

/// The longest answer that the run's settings allow; 0: they do not say.
double set_limit(const State& state) {
  const auto found = state.config.find("max_response_length");
  const auto limit = found == state.config.end() ? std::nullopt : parse_double(found->second);
  return limit.value_or(0) > kShortest ? *limit : 0;
}

/// The median change from record to record below `least`; infinite where there are too few.
double usual_change(const Track& track, double least) {
  std::vector<double> changes;
  for (size_t i = 1; i < track.size(); ++i) {
    if (track.values[i] < least) changes.push_back(std::abs(track.values[i] - track.values[i - 1]));
  }
  return changes.size() < points_of(kPersist) ? INFINITY : median(std::move(changes));
}

/// Instead of a truncated share 0/1, by whether the mean length stands at the longest length (the cap).
void judge_lengths(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  ValueCursor longest(state.find("response.length_max"));
  const double set = set_limit(state);
  for (Track track : tracks_of(state.find("response.length"))) {
    const Track shown = track;
    const double highest = track.size() == 0 ? 0 : *std::max_element(track.values.begin(), track.values.end());
    std::optional<double> calm;  // asked for where the rest holds
    const auto is_calm = [&](double change) {
      if (!calm) calm = usual_change(shown, kAtCap.value * highest) / kCalm.value;
      return change <= *calm;
    };
    double cap = 0;
    for (size_t i = 0; i < track.size(); ++i) {
      const auto most = longest.at(track.points[i]);
      cap = std::max({cap, track.values[i], most.value_or(0)});
      // where the longest response is not shown, only a length that stands still and is never passed is a limit: one
      // that grows, or a running mean, is its own largest all the time
      const double change = i > 0 ? std::abs(track.values[i] - track.values[i - 1]) : INFINITY;
      const bool still = !most && change <= kStill.value * cap && highest <= cap + kRoundSlack && is_calm(change);
      const bool limit = most || (still && std::abs(std::remainder(cap, kRound.value)) <= kRoundSlack);
      const auto near = [&track, i](double least) { return track.values[i] >= least && track.values[i - 1] >= least; };
      const bool at_set = i > 0 && set > 0 && cap <= set + kRoundSlack && near(kAtSet.value * set);
      const bool at_cap = at_set || (i > 0 && limit && cap > kShortest && near(kAtCap.value * cap));
      track.points[i].value = at_cap ? 1 : 0;
      if (at_cap) track.points[i - 1].value = 1;  // which only the next one shows
    }
    for (size_t i = 0; i < track.size(); ++i) track.values[i] = track.points[i].value;
    judge_track(state, memory, {track, shown, cap >= kAtSet.value * set ? set : 0}, out);
  }
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const size_t before = out.size();
  for (const std::string_view name : {"response.truncated", "response.no_eos"}) {
    const auto& shares = memory.tracks(state, state.find(name));
    for (const Track& track : shares) judge_track(state, memory, {track, track}, out);
    // A missing end token may be counted among the longest sequences only, prompts included.
    const bool may_miss = name == "response.no_eos" && out.size() == before && whole_sequences(state);
    if (!shares.empty() && !may_miss) return;
  }
  judge_lengths(state, memory, out);
}

}  // namespace

extern const Detector truncation;
const Detector truncation{
    "truncation", "Most responses are cut off at the length limit.", {"truncation"}, kKnobs, judge};

}  // namespace mw::detect
