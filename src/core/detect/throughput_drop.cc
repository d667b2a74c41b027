// Steps take much longer than they did, for good, and not because the responses got longer.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "core/detect/support/objective_changed.h"
#include "core/detect/tools/drift.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kSkip{"skip", 2, "points", "The first steps compile, load and warm caches", "field guide 4.1"};
constexpr Knob kHistory{"history", 8, "points", "A level needs a few points", "own"};
constexpr Knob kWidth{"width", 8, "points", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 1.8, "x", "Times the fastest level so far",
                       "field guide 4.3 rule 27 (15-20 %), far above the spread of rollouts"};
constexpr Knob kDelta{"delta", 1, "s", "And at least this much more", "own"};
constexpr Knob kPersist{"persist", 8, "points", "Evaluations, saves and stragglers make single slow steps",
                        "field guide 4.3 rule 27 (10 steps)"};
constexpr Knob kLength{"length_share", 0.7, "ratio", "Part of the slow-down that longer responses may explain", "own"};
constexpr Knob kRest{
    "rest", 1.4, "x",
    "What is left of the slow-down, divided by the growth of the responses, that their tail may explain",
    "a step waits for its longest response, and attention grows faster than length"};
constexpr Knob kNovel{"novel", 0.9, "quantile",
                      "Of recent steps: one step in ten may be slow for an evaluation or a save", "own"};
constexpr Knob kClockFactor{"clock_factor", 2.5, "x", "Likewise, by the clocks of records, which hold all else, too",
                            "own"};
constexpr Knob kClockDelta{"clock_delta", 3, "s", "And at least this much more: clocks of logs show whole seconds",
                           "own"};
constexpr Knob kClockPersist{"clock_persist", 15, "points", "For so many records in a row", "own"};
constexpr Knob kClockWidth{"clock_width", 20, "points",
                           "Baseline window: between two records lies whatever else the run did", "own"};
constexpr Knob kClockNovel{"clock_novel", 0.97, "quantile", "And above so many of the recent ones", "own"};
constexpr Knob kGreat{"great", 4, "x", "So much slower for good: of it fewer records are a level", "own"};
constexpr Knob kGreatHistory{"great_history", 3, "points", "See `great`", "own"};
constexpr Knob kBarGaps{"bar_gaps", 20, "points", "Of a progress bar whose pace is judged", "own"};
constexpr Knob kSteady{"steady", 0.1, "ratio",
                       "Of the neighbours of a figure that is only called seconds, that fall, and that rise: one that "
                       "never falls counts from the run's beginning, one that never rises what is left of it",
                       "own"};
constexpr Knob kBlock{"block", 16, "points", "Where it goes by degrees: records whose median is compared", "own"};
constexpr Knob kBlocks{"blocks", 3, "blocks", "Likewise: so many in a row `factor` times as slow as the fastest",
                       "own"};
constexpr Knob kBand{"band", 1.25, "x", "Likewise: times the fastest block, where the onset is", "own"};
constexpr Knob kKnobs[] = {kClockFactor, kClockDelta,   kClockPersist, kClockWidth, kClockNovel, kSkip,   kHistory,
                           kWidth,       kFactor,       kDelta,        kPersist,    kLength,     kNovel,  kRest,
                           kGreat,       kGreatHistory, kBarGaps,      kSteady,     kBlock,      kBlocks, kBand};

/// What a step may have more of, so that it takes longer.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kWork = {
    {{"response.length", "the responses"}, {"turns", "the turns"}, {"prompt.length", "the prompts"}}};

/// Does the growth of `work` explain that of the steps?
bool explained_by(const Series* work, const Track& track, const Rise& rise) {
  const size_t from = rise.base_at + 1 > points_of(kWidth) ? rise.base_at + 1 - points_of(kWidth) : 0;
  const Point& first = track.points[from];
  const Point& now = track.points[rise.detected];
  const auto before = level_between(work, first.attempt, first.step, track.points[rise.base_at].step);
  const auto after = level_between(work, now.attempt, track.points[rise.first].step, now.step);
  if (!before || !after || *before <= 0) return false;
  const double growth = *after / *before, slower = rise.peak / rise.base;
  return growth > 1 + kLength.value * (slower - 1) || (growth > 1 && slower < kRest.value * growth);
}

/// "the responses", where those grew with the steps; "" where nothing that is shown did.
std::string_view explained(const State& state, const Track& track, const Rise& rise) {
  for (const auto& [signal, words] : kWork) {
    if (explained_by(state.find(signal), track, rise)) return words;
  }
  return "";
}

std::string grew(std::string_view work) { return cat("; ", work, " grew as well"); }

/// The phase that grew most, for the reader, over the same records as the step: the `width` of its level before, and
/// those of its level now.
std::string slower_part(const State& state, const Track& track, const Rise& rise, size_t width) {
  const Point& first = track.points[rise.base_at + 1 > width ? rise.base_at + 1 - width : 0];
  const Point& now = track.points[rise.detected];
  std::string_view worst;
  double most = 0, before = 0, after = 0;
  for (const std::string_view part : {"time.rollout", "time.reward", "time.tools", "time.logprob", "time.train",
                                      "time.sync", "time.save", "time.wait"}) {
    const Series* series = state.find(part);
    const auto then = level_between(series, first.attempt, first.step, track.points[rise.base_at].step);
    const auto since = level_between(series, now.attempt, track.points[rise.first].step, now.step);
    if (!then || !since || *since - *then <= most) continue;
    most = *since - *then;
    worst = part;
    before = *then;
    after = *since;
  }
  if (worst.empty()) return "";
  const bool half = 2 * most >= rise.peak - rise.base;
  return cat(half ? "; most of it in " : "; the largest part of it in ", worst, " (", before, " to ", after, " s)");
}

void add_finding(const Track& track, const Rise& rise, bool fair, std::string summary, std::vector<Finding>& out) {
  const Point& onset = track.points[rise.onset];
  Finding finding = make_finding("throughput-drop", "throughput-drop", fair ? Severity::kInfo : Severity::kWarning,
                                 onset, track.points[rise.detected], std::move(summary));
  if (track.series != nullptr) {
    add_figures(finding, track, rise.onset > 0 ? rise.onset - 1 : 0, rise.detected);
  } else {
    for (const size_t i : {rise.onset > 0 ? rise.onset - 1 : 0, rise.onset, rise.detected})
      add_figure(finding, "time.step", track.points[i].step, track.points[i].value);
  }
  const double ratio = std::max(rise.peak / rise.base, rise.base / rise.peak);
  finding.suggests.push_back(
      {"slow-step-degradation", 0.5, cat("a factor of ", format_short(ratio, 2), " against its own level")});
  if (rise.ended) resolve(finding, track.points[*rise.ended]);
  out.push_back(std::move(finding));
}

constexpr RiseRule kClockRule{points_of(kClockWidth),
                              points_of(kClockWidth),
                              kClockFactor.value,
                              kClockDelta.value,
                              points_of(kClockPersist),
                              points_of(kSkip),
                              true,
                              kClockNovel.value};
constexpr RiseRule kGreatByClock{points_of(kGreatHistory), points_of(kClockWidth), kGreat.value, kClockDelta.value,
                                 points_of(kClockPersist), points_of(kSkip),       true,         kClockNovel.value};

/// The steps' own clocks, where no figure says how long a step took: from record to record of one attempt.
struct ClockWalk {
  Track gaps;  ///< no series
  RiseWalk rises{kClockRule}, great{kGreatByClock};

  void step(const Track& track, size_t i) {
    if (i == 0) return;
    const Point &before = track.points[i - 1], &now = track.points[i];
    const bool known = before.at.known() && now.at.known() && before.attempt == now.attempt;
    if (!known || now.step <= before.step || now.at <= before.at) return;
    gaps.points.push_back(now);
    gaps.values.push_back((now.at - before.at).seconds() / static_cast<double>(now.step - before.step));
    gaps.points.back().value = gaps.values.back();
    rises.step(gaps, gaps.size() - 1);
    great.step(gaps, gaps.size() - 1);
  }
  const std::vector<Rise>& found() const { return rises.found().empty() ? great.found() : rises.found(); }
};

/// Of the figure that each step shows.
const Series* each_step(const State& state) {
  if (const Series* reward = reward_series(state); reward != nullptr) return reward;
  for (const std::string_view name : {"loss.total", "loss.policy", "grad_norm", "entropy", "kl.ref"}) {
    if (const Series* series = state.find(name); series != nullptr) return series;
  }
  return nullptr;
}

/// By clocks that hold all else, too: of the records, or of the bar over the steps.
void add_clock(const State& state, const Track& gaps, const Rise& rise, std::string_view clock,
               std::vector<Finding>& out) {
  const std::string_view work = explained(state, gaps, rise);
  const std::string task = task_changed(state, gaps, rise.onset);  // longer episodes, as a curriculum goes on
  add_finding(
      gaps, rise, !work.empty() || !task.empty(),
      cat("By ", clock, " a step takes ", format_short(rise.peak, 3), " s instead of ", format_short(rise.base, 3),
          " s since step ", gaps.points[rise.onset].step, and_further(gaps, change_of(rise)),
          work.empty() ? "" : grew(work), task.empty() ? "" : cat("; ", task)),
      out);
}

/// Whether any record has a clock to go by.
bool judge_clocks(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  bool any = false;
  for (KeptTrack& track : memory.tracks(state, each_step(state))) {
    const ClockWalk& walk = track.follow("throughput-drop, clock", ClockWalk{});
    any = any || walk.gaps.size() > 0;
    for (const Rise& rise : walk.found()) add_clock(state, walk.gaps, rise, "the clock of the records", out);
  }
  return any;
}

/// Seconds a step between the states of the last attempt's bar; a resumed one first counts what was done before.
Track gaps_of_bar(const State& state) {
  Track gaps;
  const auto attempt = static_cast<uint16_t>(state.attempts.size() - 1);
  const auto& bar = state.attempts[attempt].bar;
  for (size_t i = 1; i < bar.size(); ++i) {
    const double steps = static_cast<double>(bar[i].done - bar[i - 1].done);
    Point point;
    point.step = bar[i].done;
    point.value = (bar[i].elapsed - bar[i - 1].elapsed) / steps;
    point.where = bar[i].where;
    point.attempt = attempt;
    gaps.points.push_back(point);
    gaps.values.push_back(point.value);
  }
  return gaps;
}

/// Nearly all bars keep their pace, which costs little to see: of as many states as a level takes at any place.
bool keeps_pace(const Track& gaps) {
  double fastest = INFINITY, slowest = 0, sum = 0;
  const size_t width = points_of(kClockPersist);
  for (size_t i = 0; i < gaps.size(); ++i) {
    sum += gaps.values[i] - (i >= width ? gaps.values[i - width] : 0);
    if (i + 1 < width) continue;
    fastest = std::min(fastest, sum);
    slowest = std::max(slowest, sum);
  }
  return slowest < kClockFactor.value / 2 * fastest;
}

void judge_bar(const State& state, std::vector<Finding>& out) {
  if (state.attempts.empty() || state.attempts.back().bar.size() < points_of(kBarGaps)) return;
  const Track gaps = gaps_of_bar(state);
  if (keeps_pace(gaps)) return;
  RiseWalk rises(kClockRule), great(kGreatByClock);
  for (size_t i = 0; i < gaps.size(); ++i) {
    rises.step(gaps, i);
    great.step(gaps, i);
  }
  for (const Rise& rise : rises.found().empty() ? great.found() : rises.found())
    add_clock(state, gaps, rise, "the progress bar", out);
}

/// A figure that each record has and that is only said to be in seconds.
const Series* seconds_of_records(const State& state) {
  for (const Series& series : state.series) {
    if (series.raw != "duration" || !series.signal.empty() || series.count() < points_of(kClockWidth)) continue;
    constexpr size_t kLast = 200;  // records: a long run is judged at each of them
    const auto& points = series.points();
    const size_t begin = points.size() - std::min(points.size(), kLast);
    size_t falls = 0, climbs = 0;
    for (size_t i = begin + 1; i < points.size(); ++i) {
      falls += points[i].value < points[i - 1].value;
      climbs += points[i].value > points[i - 1].value;
    }
    const double few = kSteady.value * static_cast<double>(points.size() - begin);
    if (static_cast<double>(std::min(falls, climbs)) >= few) return &series;
  }
  return nullptr;
}

constexpr DriftRule kDrift{points_of(kBlock), kFactor.value, kDelta.value, points_of(kBlocks), kBand.value};

/// A figure says how long a step took: where that rose, and "by degrees, " where there was no jump.
struct Stated {
  std::vector<Rise> rises;
  std::string_view how;
  size_t width;  ///< points of the level before
};
Stated stated_rises(KeptTrack& track, const RiseRule& rule, bool named) {
  Stated stated{track.rises("throughput-drop", rule), "", rule.width};
  if (!stated.rises.empty() || !named) return stated;
  RiseRule great = rule;
  great.history = points_of(kGreatHistory);
  great.factor = kGreat.value;
  if (track.series->max() > kGreat.value * track.series->min())
    stated.rises = track.rises("throughput-drop, great", great);
  if (stated.rises.empty())
    stated = {track.follow("throughput-drop, drift", DriftWalk(kDrift)).found(), "by degrees, ", kDrift.width};
  return stated;
}

/// Whether some figure says how long a step took.
bool judge_stated(const State& state, JudgeMemory& memory, const RiseRule& rule, std::vector<Finding>& out) {
  const Series* series = state.find("time.step");
  const bool named = series != nullptr;
  if (!named) series = seconds_of_records(state);
  for (KeptTrack& track : memory.tracks(state, series)) {
    const Stated stated = stated_rises(track, rule, named);
    for (const Rise& rise : stated.rises) {
      const std::string_view work = explained(state, track, rise);
      const Point& onset = track.points[rise.onset];
      add_finding(track, rise, !work.empty(),
                  cat("A step takes ", rise.peak, " s instead of ", rise.base, " s ", stated.how, "since step ",
                      onset.step, and_further(track, change_of(rise)),
                      work.empty() ? slower_part(state, track, rise, stated.width) : grew(work)),
                  out);
    }
  }
  return named;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  RiseRule rule{points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value,
                points_of(kPersist), points_of(kSkip),  true,          kNovel.value};
  const size_t before = out.size();
  if (judge_stated(state, memory, rule, out) || out.size() > before) return;
  rule.delta = 0;
  for (KeptTrack& track : memory.tracks(state, state.find("throughput.tokens"))) {
    for (const Rise& fall : track.falls("throughput-drop", rule)) {
      add_finding(track, fall, false,
                  cat("Throughput is ", fall.peak, " instead of ", fall.base, " tokens/s since step ",
                      track.points[fall.onset].step, and_further(track, change_of(fall))),
                  out);
    }
  }
  if (state.find("throughput.tokens") != nullptr) return;
  if (!judge_clocks(state, memory, out)) judge_bar(state, out);
}

}  // namespace

extern const Detector throughput_drop;
const Detector throughput_drop{"throughput-drop",
                               "Steps take much longer than they did, and not because responses grew.",
                               {"throughput-drop"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
