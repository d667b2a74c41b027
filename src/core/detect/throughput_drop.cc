// Steps take much longer than they did, for good, and not because the responses got longer.
#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
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
constexpr Knob kKnobs[] = {kClockFactor, kClockDelta, kClockPersist, kClockWidth, kClockNovel, kSkip,  kHistory,
                           kWidth,       kFactor,     kDelta,        kPersist,    kLength,     kNovel, kRest};

/// Longer responses explain longer steps.
bool explained(const State& state, const Track& track, const Rise& rise) {
  const Series* length = state.find("response.length");
  const size_t from = rise.base_at + 1 > points_of(kWidth) ? rise.base_at + 1 - points_of(kWidth) : 0;
  const Point& first = track.points[from];
  const Point& now = track.points[rise.detected];
  const auto before = level_between(length, first.attempt, first.step, track.points[rise.base_at].step);
  const auto after = level_between(length, now.attempt, track.points[rise.first].step, now.step);
  if (!before || !after || *before <= 0) return false;
  const double growth = *after / *before, slower = rise.peak / rise.base;
  return growth > 1 + kLength.value * (slower - 1) || (growth > 1 && slower < kRest.value * growth);
}

/// The phase that grew most, for the reader.
std::string slower_part(const State& state, const Point& onset, const Point& now) {
  std::string worst;
  double most = 0;
  for (const std::string_view part : {"time.rollout", "time.reward", "time.tools", "time.logprob", "time.train",
                                      "time.sync", "time.save", "time.wait"}) {
    const auto shift = shift_of(state, part, onset, now, 8);
    if (shift && shift->after - shift->before > most) {
      most = shift->after - shift->before;
      worst = cat("; most of it in ", part, " (", shift->before, " to ", shift->after, " s)");
    }
  }
  return worst;
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

/// The steps' own clocks, where no figure says how long a step took: from record to record of one attempt.
struct ClockWalk {
  Track gaps;  ///< no series
  RiseWalk rises{RiseRule{points_of(kClockWidth), points_of(kClockWidth), kClockFactor.value, kClockDelta.value,
                          points_of(kClockPersist), points_of(kSkip), true, kClockNovel.value}};

  void step(const Track& track, size_t i) {
    if (i == 0) return;
    const Point &before = track.points[i - 1], &now = track.points[i];
    const bool known = before.at.known() && now.at.known() && before.attempt == now.attempt;
    if (!known || now.step <= before.step || now.at <= before.at) return;
    gaps.points.push_back(now);
    gaps.values.push_back((now.at - before.at).seconds() / static_cast<double>(now.step - before.step));
    gaps.points.back().value = gaps.values.back();
    rises.step(gaps, gaps.size() - 1);
  }
};

/// Of the figure that each step shows.
const Series* each_step(const State& state) {
  if (const Series* reward = reward_series(state); reward != nullptr) return reward;
  const Series* loss = state.find("loss.total");
  return loss != nullptr ? loss : state.find("loss.policy");
}

void judge_clocks(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  for (KeptTrack& track : memory.tracks(state, each_step(state))) {
    const ClockWalk& walk = track.follow("throughput-drop, clock", ClockWalk{});
    for (const Rise& rise : walk.rises.found()) {
      const bool fair = explained(state, walk.gaps, rise);
      add_finding(walk.gaps, rise, fair,
                  cat("By the clock of the records a step takes ", format_short(rise.peak, 3), " s instead of ",
                      format_short(rise.base, 3), " s since step ", walk.gaps.points[rise.onset].step,
                      and_further(walk.gaps, change_of(rise)), fair ? "; the responses grew as well" : ""),
                  out);
    }
  }
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  RiseRule rule{points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value,
                points_of(kPersist), points_of(kSkip),  true,          kNovel.value};
  for (KeptTrack& track : memory.tracks(state, state.find("time.step"))) {
    for (const Rise& rise : track.rises("throughput-drop", rule)) {
      const bool fair = explained(state, track, rise);
      const Point& onset = track.points[rise.onset];
      add_finding(track, rise, fair,
                  cat("A step takes ", rise.peak, " s instead of ", rise.base, " s since step ", onset.step,
                      and_further(track, change_of(rise)),
                      fair ? "; the responses grew as well" : slower_part(state, onset, track.points[rise.detected])),
                  out);
    }
  }
  if (state.find("time.step") != nullptr) return;
  rule.delta = 0;
  for (KeptTrack& track : memory.tracks(state, state.find("throughput.tokens"))) {
    for (const Rise& fall : track.falls("throughput-drop", rule)) {
      add_finding(track, fall, false,
                  cat("Throughput is ", fall.peak, " instead of ", fall.base, " tokens/s since step ",
                      track.points[fall.onset].step, and_further(track, change_of(fall))),
                  out);
    }
  }
  if (state.find("throughput.tokens") == nullptr) judge_clocks(state, memory, out);
}

}  // namespace

extern const Detector throughput_drop;
const Detector throughput_drop{"throughput-drop",
                               "Steps take much longer than they did, and not because responses grew.",
                               {"throughput-drop"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
