// An agent that calls its tools no more, or never did, and one whose episodes have all become as short as can be.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kUsed{"used", 0.2, "calls", "Per sample, at its best so far: fewer are not enough to miss", "own"};
constexpr Knob kGone{"gone", 0.02, "ratio", "Of that, at most: next to none", "own"};
constexpr Knob kTurns{"turns", 0.5, "ratio", "Of the turns at their most, at most", "own"};
constexpr Knob kSingle{"single", 2.05, "turns",
                       "One answer, which some trainers count together with the question as two", "verl's num_turns"};
constexpr Knob kSame{"same", 0.05, "turns", "No episode is longer than the others: the mean does not move", "own"};
constexpr Knob kLevel{"level", 10, "points", "Whose median is a level", "own"};
constexpr Knob kPersist{"persist", 10, "points", "It stays", "own"};
constexpr Knob kBack{"back", 5, "points", "Without it in a row end it", "hysteresis"};
constexpr Knob kNever{"never", 20, "points", "From the first record on without a call: a cold start may last as long",
                      "failure catalogue, model-never-calls-tools (32 rollouts)"};
constexpr Knob kShrunk{"shrunk", 0.5, "ratio",
                       "Of the answers' length per turn before, at most: the answers themselves collapse, and their "
                       "turns with them",
                       "own"};
constexpr Knob kRose{"rose", 0.05, "ratio", "Of what the reward had to gain: it does better without", "own"};
constexpr Knob kKnobs[] = {kUsed, kGone, kTurns, kSingle, kSame, kLevel, kPersist, kBack, kNever, kShrunk, kRose};

enum class What { kCalls, kTurns };

struct Fallen {
  size_t first = 0, detected = 0;
  double level = 0;  ///< before
  std::optional<size_t> ended;
};

/// Points in a row at the bottom, behind a level that lay well above it.
struct FallWalk {
  What what = What::kCalls;
  double most = 0;  // the highest level so far
  std::vector<Fallen> found;
  size_t streak = 0, back = 0;

  void step(const Track& track, size_t i) {
    constexpr size_t kReported = 4;
    const bool low = is_low(track, i);
    if (!found.empty() && !found.back().ended) return go_on(low, i);
    streak = low ? streak + 1 : 0;
    if (streak >= points_of(kPersist) && found.size() < kReported) {
      found.push_back({i + 1 - streak, i, most, std::nullopt});
      back = 0;
    }
    if (i + 1 < points_of(kLevel)) return;
    const auto last = track.slice(i + 1 - points_of(kLevel), i + 1);
    most = std::max(most, median({last.begin(), last.end()}));
  }

 private:
  bool is_low(const Track& track, size_t i) const {
    const double value = track.values[i];
    if (what == What::kCalls) return most >= kUsed.value && value <= kGone.value * most;
    const double begun = track.values[i - streak];
    return value <= std::min(kSingle.value, kTurns.value * most) && std::abs(value - begun) <= kSame.value;
  }

  void go_on(bool low, size_t i) {
    back = low ? 0 : back + 1;
    if (back < points_of(kBack)) return;
    found.back().ended = i;
    streak = 0;
  }
};

/// The turns are fewer since hardly anything is said at all, which length-collapse reports.
bool answers_shrank(const State& state, const Track& track, const Fallen& fall) {
  const Series* const length = state.find("response.length");
  const Point &onset = track.points[fall.first], &now = track.points[fall.detected];
  const auto before = level_between(length, onset.attempt, std::numeric_limits<int64_t>::min(), onset.step - 1);
  const auto after = level_between(length, now.attempt, onset.step, now.step);
  if (!before || !after || !(*before > 0)) return false;
  return *after / *before <= kShrunk.value * track.values[fall.detected] / fall.level;
}

void suggest(Finding& finding, std::string_view why) {
  finding.suggests.push_back({"model-never-calls-tools", 0.7, std::string(why)});
  finding.suggests.push_back({"vllm-tool-parser-error", 0.35, "calls that are not parsed are none"});
}

void add_fall(const State& state, const Track& track, What what, const Fallen& fall, std::vector<Finding>& out) {
  const Point &onset = track.points[fall.first], &now = track.points[fall.detected];
  const auto outcome = outcome_of(state, onset, now);
  const bool better = outcome && outcome->rose(kRose.value);
  const std::string before = format_short(fall.level, 3), since = format_short(track.values[fall.detected], 3);
  std::string summary;
  if (what == What::kCalls) {
    summary = cat("The model ", fall.ended ? "called hardly any tool" : "calls hardly any tool any more",
                  " since step ", onset.step, ": ", since, " calls per sample, after ", before);
  } else {
    summary = cat("Every episode ", fall.ended ? "was" : "is", " over after ", since, since == "1" ? " turn" : " turns",
                  " since step ", onset.step, ", after ", before,
                  ": whatever an agent does in several turns, such as calling tools, is not done");
  }
  const bool shrank = what == What::kTurns && answers_shrank(state, track, fall);
  if (shrank) summary += "; the answers themselves shrank as well";
  if (better) summary += "; the reward rose all the same";
  Finding finding = make_finding("tools-unused", "tool-errors", better || shrank ? Severity::kInfo : Severity::kWarning,
                                 onset, now, std::move(summary));
  add_figures(finding, track, fall.first > 0 ? fall.first - 1 : 0, fall.detected, 4);
  suggest(finding, what == What::kCalls ? "no calls, after there were some" : "single turns, after there were more");
  if (fall.ended) resolve(finding, track.points[*fall.ended]);
  out.push_back(std::move(finding));
}

/// No call in any record from the first one on.
bool judge_never(const Track& track, std::vector<Finding>& out) {
  const auto used = [](double value) { return value != 0; };
  const auto first = std::find_if(track.values.begin(), track.values.end(), used);
  const auto none = static_cast<size_t>(first - track.values.begin());
  if (none < points_of(kNever)) return false;
  const bool over = first != track.values.end();
  const size_t now = points_of(kNever) - 1;
  const bool without_tools = track.series->raw == "val/num_calls_rate";  // open-instruct writes it without tools, too
  Finding finding =
      make_finding("tools-unused", "tool-errors", over || without_tools ? Severity::kInfo : Severity::kWarning,
                   track.points[0], track.points[now],
                   over ? cat("The model called no tool until step ", track.points[none].step)
                        : cat("The model calls no tool in any of ", none, " records, from the first one on"));
  add_figures(finding, track, 0, now, 3);
  suggest(finding, "no calls from the first record on");
  if (over) resolve(finding, track.points[none]);
  out.push_back(std::move(finding));
  return true;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const size_t before = out.size();
  for (KeptTrack& track : memory.tracks(state, state.find("tools.calls"))) {
    if (judge_never(track, out)) continue;
    for (const Fallen& fall : track.follow("tools-unused", FallWalk{}).found) {
      add_fall(state, track, What::kCalls, fall, out);
    }
  }
  if (out.size() > before) return;
  for (KeptTrack& track : memory.tracks(state, state.find("turns"))) {
    FallWalk turns;
    turns.what = What::kTurns;
    for (const Fallen& fall : track.follow("tools-unused", turns).found) {
      add_fall(state, track, What::kTurns, fall, out);
    }
  }
}

}  // namespace

extern const Detector tools_unused;
const Detector tools_unused{"tools-unused",
                            "An agent calls its tools no more, or never did, or answers in a single turn.",
                            {"tool-errors"},
                            kKnobs,
                            judge};

}  // namespace mw::detect
