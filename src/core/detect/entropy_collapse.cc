// Entropy is spent while the reward gains nothing. Entropy that falls while the reward rises, or that is low because
// the data is solved, is how training works.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "core/detect/tools/back.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kInitial{"initial", 5, "points", "The initial level: median of the first points",
                        "field guide 4.3 rule 5 (20 steps), for short runs too"};
constexpr Knob kFirst{"first", 3, "points",
                      "Or of so few, if that is more: a collapse from the first step on pulls it down", "own"};
constexpr Knob kShare{"share", 0.1, "ratio", "Of the initial level",
                      "field guide 4.3 rule 5 (0.3 warning, 0.1 critical); 0.2-0.3 is common in healthy runs"};
constexpr Knob kNotable{"notable", 0.2, "ratio", "Of the initial level: worth a line, as information",
                        "field guide 4.3 rule 5 (0.3 warning)"};
constexpr Knob kHalfway{"halfway", 0.4, "ratio",
                        "Share of the initial level from which on the reward should have gained",
                        "94 % of the gain comes with the first 94 % of entropy: arXiv 2505.22617"};
constexpr Knob kPersist{"persist", 5, "points", "It stays", "field guide 4.3 rule 5"};
constexpr Knob kGain{"gain", 0.05, "ratio", "Share of the reward's range; a smaller gain is none", "own"};
constexpr Knob kSolved{"solved", 0.9, "ratio",
                       "Share of the reward's range above which there is nothing left to explore", "own"};
constexpr Knob kSudden{"sudden", 3, "x", "Or: it fell by so much at once, and the reward gained nothing from there on",
                       "own"};
constexpr Knob kSuddenShare{"sudden_share", 0.15, "ratio", "Of the records so far: what is slower is not at once",
                            "own"};
constexpr Knob kSuddenPoints{"sudden_points", 10, "points", "And so many at least", "own"};
constexpr Knob kDeadSteps{"dead_steps", 10, "steps",
                          "Or: so long no group's rewards differ either. Without differences and without exploration "
                          "nothing changes any more",
                          "failure catalogue, zero-advantage-all-groups; DAPO, dynamic sampling"};
constexpr Knob kDeadShare{"dead_share", 0.8, "ratio", "Of those steps: a single lucky answer brings no learning back",
                          "own"};
constexpr Knob kUniform{"uniform", 0.95, "ratio",
                        "Share of the groups without differences that makes a step a dead one",
                        "failure catalogue, zero-advantage-all-groups"};
constexpr Knob kNarrow{"narrow", 0.1, "nats", "A policy that begins with less did not lose its exploration in this run",
                       "own; fine-tuned policies begin at 0.02 to 0.06, others at 0.2 to 1"};
constexpr Knob kBack{"back", 10, "points",
                     "In a row above half of the level right before the collapse, and above `notable`, end it",
                     "hysteresis"};
constexpr Knob kKnobs[] = {kInitial, kFirst,       kNarrow,       kShare,   kHalfway,   kPersist,   kGain,    kSolved,
                           kSudden,  kSuddenShare, kSuddenPoints, kNotable, kDeadSteps, kDeadShare, kUniform, kBack};

constexpr double kMedianError = 1.2533;  // standard error of a median of normal values, in those of the mean
constexpr size_t kHighPoints = 3;        // points in a row that make a level

/// The reward of the `width` records before the entropy was at index `since`, and of those after: gained, solved, or
/// (true) neither.
bool nothing_gained(const State& state, JudgeMemory& memory, const Track& entropy, size_t since, size_t now,
                    size_t width) {
  const Point& end = entropy.points[now];
  for (const Track& reward : memory.tracks(state, reward_series(state))) {
    std::vector<double> before, after;
    size_t last = 0;
    for (size_t i = 0; i < reward.size(); ++i) {
      if (reward.points[i].attempt != end.attempt || reward.points[i].step > end.step) continue;
      (reward.points[i].step < entropy.points[since].step ? before : after).push_back(reward.values[i]);
      last = i;
    }
    if (before.empty() || after.size() < 3) continue;
    if (before.size() > width) before.erase(before.begin(), before.end() - static_cast<std::ptrdiff_t>(width));
    const RewardScale scale = reward_scale(state, reward, last);
    const size_t tail = std::min<size_t>(after.size(), 10);
    const double level = median({after.end() - static_cast<std::ptrdiff_t>(tail), after.end()});
    const double gain = scale.share(level) - scale.share(median(before));
    const double error = kMedianError * noise(reward.values) *
                         std::sqrt(1 / static_cast<double>(before.size()) + 1 / static_cast<double>(tail)) /
                         std::max(scale.ceiling - scale.floor, 1e-9);
    return gain < kGain.value + error && !solved(state, scale, level, kSolved.value);
  }
  return false;
}

/// Where the entropy left a level several times that at `first`, when that was not long before.
std::optional<size_t> fell_at_once(const Track& track, size_t first) {
  const size_t reach =
      std::max(points_of(kSuddenPoints), static_cast<size_t>(kSuddenShare.value * static_cast<double>(first)));
  size_t high = 0;
  for (size_t i = first; i > 0 && first - i < reach; --i) {
    high = track.values[i - 1] > kSudden.value * track.values[first] ? high + 1 : 0;
    if (high >= kHighPoints) return i - 1 + kHighPoints;
  }
  return std::nullopt;
}

/// First point, from `from` on, of the first streak under the share `share` of the initial level that lasts.
std::optional<size_t> lasting_low(const Track& track, double initial, double share, size_t from) {
  size_t streak = 0;
  for (size_t i = from; i < track.size(); ++i) {
    streak = track.values[i] < share * initial ? streak + 1 : 0;
    if (streak == points_of(kPersist)) return i + 1 - streak;
  }
  return std::nullopt;
}

/// The steps of an attempt in which no group's rewards differ (true) or some do, in order, as far as the run says.
std::vector<std::pair<int64_t, bool>> uniform_steps(const State& state, uint16_t attempt) {
  std::vector<std::pair<int64_t, bool>> steps;
  const auto add = [&](const Series* series, auto&& is_uniform) {
    for (const Point& point : series->points()) {
      if (point.attempt == attempt) steps.emplace_back(point.step, is_uniform(point));
    }
  };
  if (const Series* groups = state.find("reward.zero_std_groups")) {
    add(groups, [](const Point& point) { return point.value >= kUniform.value; });
    return steps;
  }
  for (const std::string_view name : {"advantage.std", "reward.std"}) {
    if (const Series* spread = state.find(name)) {
      add(spread, [](const Point& point) { return point.value == 0; });
      return steps;
    }
  }
  for (const auto& [most, least] :
       {std::pair{"advantage.max", "advantage.min"}, std::pair{"reward.max", "reward.min"}}) {
    const Series *upper = state.find(most), *lower = state.find(least);
    if (upper == nullptr || lower == nullptr) continue;
    std::map<int64_t, double> floor;
    for (const Point& point : lower->points()) {
      if (point.attempt == attempt) floor[point.step] = point.value;
    }
    add(upper, [&](const Point& point) {
      const auto known = floor.find(point.step);
      return known != floor.end() && known->second == point.value;
    });
    return steps;
  }
  return steps;
}

/// The step by which, with the entropy gone since index `first`, the rewards had long been without differences, though
/// the data is not solved.
std::optional<int64_t> dead_at(const State& state, JudgeMemory& memory, const Track& track, size_t first) {
  const Point& from = track.points[first];
  size_t seen = 0, uniform = 0;
  std::optional<int64_t> at;
  for (const auto& [step, dead] : uniform_steps(state, from.attempt)) {
    if (step < from.step) continue;
    ++seen;
    uniform += dead ? 1 : 0;
    if (seen < points_of(kDeadSteps) || static_cast<double>(uniform) < kDeadShare.value * static_cast<double>(seen)) {
      continue;
    }
    at = step;
    break;
  }
  if (!at) return std::nullopt;
  for (const Track& reward : memory.tracks(state, reward_series(state))) {
    const auto level = level_between(reward.series, from.attempt, from.step, *at);
    if (!level || reward.points.empty() || reward.points.front().attempt != from.attempt) continue;
    size_t end = 0;
    while (end + 1 < reward.size() && reward.points[end + 1].step <= *at) ++end;
    // A reward that only punishes has no ceiling to have come to: 0 may be an answer that was never tried.
    if (*level > 0 && solved(state, reward_scale(state, reward, end), *level, kSolved.value)) return std::nullopt;
  }
  return at;
}

/// Where entropy that was gone since index `first`, by the record `now`, is back for good: near to where it came from,
/// as far as that was no remnant itself.
std::optional<size_t> returned_at(const Track& track, double initial, size_t first, size_t now) {
  constexpr double kPart = 0.5;  // of the level right before
  const double before = median_of_last(track.slice(0, first), points_of(kSuddenPoints));
  const double level = std::clamp(kPart * before, kNotable.value * initial, kHalfway.value * initial);
  return back_at(track, now, points_of(kBack), [level](double value) { return value > level; });
}

/// Its file is that of a supervised stage: the entropy of what is learnt falls with the loss, whatever the rewards of
/// another stage's file are.
bool of_supervised(const State& state, const Track& track) {
  if (track.series == nullptr) return false;
  bool tokens = false;
  for (const Series& series : state.series) {
    if (series.source != track.series->source || series.empty()) continue;
    if (series.signal.starts_with("reward.")) return false;
    tokens = tokens || series.signal == "accuracy.token";
  }
  return tokens;
}

enum class Spent : uint8_t { kForGain, kForNothing, kAndNoSignal };

std::string_view words_of(Spent spent, bool over) {
  if (spent == Spent::kForNothing) return " while the reward gained nothing";
  if (spent == Spent::kForGain) return "";
  return over ? ", and no group's rewards differed any more"
              : ", and no group's rewards differ any more: nothing is left that could change the policy";
}

/// `back`: where it was over.
void add_finding(const Track& track, double initial, size_t first, size_t now, Spent spent, std::optional<size_t> back,
                 std::vector<Finding>& out) {
  std::string until;  // the last record before those that show its end
  if (back) until = cat(", and was back by step ", track.points[*back + 1 - points_of(kBack)].step);
  Finding finding = make_finding(
      "entropy-collapse", "entropy-collapse", spent == Spent::kForGain ? Severity::kInfo : Severity::kWarning,
      track.points[first], track.points[now],
      cat("Entropy fell from ", initial, " to ", track.values[now],
          and_further(track, {initial, track.values[now], now, back}), words_of(spent, back.has_value()), until));
  add_figure(finding, track, 0);
  add_figures(finding, track, first, now);
  finding.suggests.push_back(
      {"entropy-collapse", 0.6,
       cat("entropy is ", format_short(100 * track.values[now] / initial, 2), " % of its initial level")});
  if (back) resolve(finding, track.points[*back]);
  out.push_back(std::move(finding));
}

/// What the collapse from index `first` on that lasted by `now` is to the run.
std::pair<Spent, size_t> weigh(const State& state, JudgeMemory& memory, const Track& track, double initial,
                               size_t first, size_t now) {
  size_t halfway = points_of(kInitial);
  while (halfway < first && track.values[halfway] >= kHalfway.value * initial) ++halfway;
  const std::optional<size_t> at_once = fell_at_once(track, first);
  const bool supervised = of_supervised(state, track);
  const bool grave = initial >= kNarrow.value && !supervised &&
                     (nothing_gained(state, memory, track, halfway, now, track.size()) ||
                      (at_once && nothing_gained(state, memory, track, *at_once, now, points_of(kSuddenPoints))));
  if (grave) return {Spent::kForNothing, now};
  const std::optional<int64_t> dead = supervised ? std::nullopt : dead_at(state, memory, track, first);
  while (dead && now + 1 < track.size() && track.points[now].step < *dead) ++now;
  return {dead ? Spent::kAndNoSignal : Spent::kForGain, now};
}

/// Worth a line though it is no collapse.
void judge_notable(const State& state, JudgeMemory& memory, const Track& track, double initial,
                   std::vector<Finding>& out) {
  const std::optional<size_t> first = lasting_low(track, initial, kNotable.value, points_of(kInitial));
  if (!first) return;
  const size_t now = *first + points_of(kPersist) - 1;
  if (nothing_gained(state, memory, track, points_of(kInitial), now, track.size()))
    add_finding(track, initial, *first, now, Spent::kForGain, std::nullopt, out);
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  for (const Track& track : memory.tracks(state, state.find("entropy"))) {
    if (track.size() < points_of(kInitial) + points_of(kPersist)) continue;
    const auto head = track.slice(0, points_of(kInitial)), first_ones = track.slice(0, points_of(kFirst));
    const double initial = std::max(median({head.begin(), head.end()}), median({first_ones.begin(), first_ones.end()}));
    if (!(initial > 0)) continue;
    size_t from = points_of(kInitial), reported = 0;
    bool any = false;
    while (const std::optional<size_t> first = lasting_low(track, initial, kShare.value, from)) {
      const size_t low = *first + points_of(kPersist) - 1;
      const auto so_far = track.slice(0, low + 1);  // no entropy is negative: it is a poor estimate of one
      any = true;
      if (*std::min_element(so_far.begin(), so_far.end()) < -kShare.value * initial) break;
      if (reported == kStretchesReported)
        out.pop_back();
      else
        ++reported;
      const auto [spent, now] = weigh(state, memory, track, initial, *first, low);
      const std::optional<size_t> back = returned_at(track, initial, *first, now);
      add_finding(track, initial, *first, now, spent, back, out);
      if (!back) break;
      from = *back + 1;
    }
    if (!any) judge_notable(state, memory, track, initial, out);
  }
}

}  // namespace

extern const Detector entropy_collapse;
const Detector entropy_collapse{
    "entropy-collapse", "Entropy is spent while the reward gains nothing.", {"entropy-collapse"}, kKnobs, judge};

}  // namespace mw::detect
