// Answers break the required format: more than they did, or nearly always with no sign of learning it.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text.h"
#include "core/detect/support/stands_low.h"
#include "core/detect/support/unread_answers.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 5, "points", "A level needs a few points", "own"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kDrop{"drop", 0.2, "ratio", "Points of pass rate below its best level",
                     "failure catalogue, format-failures-rising (10 points), above batch noise"};
constexpr Knob kSigma{"sigma", 4, "sigma", "And out of its own noise", "field guide 4.1"};
constexpr Knob kNoiseWindow{"noise_window", 50, "points", "Points from which the noise is estimated",
                            "field guide 4.1 (50-100)"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "failure catalogue (3 steps)"};
constexpr Knob kNever{"never", 0.15, "ratio", "Pass rate that is as good as never", "own"};
constexpr Knob kNeverPoints{"never_points", 20, "points", "Untrained models begin there and learn it within this",
                            "real runs rise from 0.13 to 0.95 within 20 steps"};
constexpr Knob kCounted{"counted", 100, "answers", "Counted answers before a rule's failures are judged", "own"};
constexpr Knob kCountedShare{"counted_share", 0.5, "ratio", "Share of counted answers that fail a rule", "own"};
constexpr Knob kUnread{"unread", 0.2, "ratio",
                       "Of the rollouts that the log says it could not read, while the reward stands low", "own"};
constexpr Knob kKnobs[] = {kHistory, kWidth,       kDrop,    kSigma,        kNoiseWindow, kPersist,
                           kNever,   kNeverPoints, kCounted, kCountedShare, kUnread};

void add_finding(const Track& track, size_t first, size_t now, std::string summary, std::vector<Finding>& out) {
  Finding finding = make_finding("format-failures", "format-failures", Severity::kWarning, track.points[first],
                                 track.points[now], std::move(summary));
  add_figures(finding, track, first > 0 ? first - 1 : 0, now);
  finding.suggests.push_back({"format-failures-rising", 0.6, "answers break the required format"});
  out.push_back(std::move(finding));
}

/// Up to the first point at which the format is kept hardly ever, or much less than it was.
struct FormatWalk {
  double best = -INFINITY;
  size_t low = 0, never = 0;
  std::optional<size_t> found;
  bool hardly_ever = false;

  void step(const Track& track, size_t i) {
    if (found) return;
    never = track.values[i] < kNever.value ? never + 1 : 0;
    hardly_ever = never == points_of(kNeverPoints);
    if (hardly_ever) found = i;
    if (hardly_ever || i < points_of(kHistory)) return;
    if (low == 0) best = std::max(best, median_of_last(track.slice(0, i), points_of(kWidth)));
    const size_t end = i - low;
    const auto recent = track.slice(end > points_of(kNoiseWindow) ? end - points_of(kNoiseWindow) : 0, end);
    const double limit = best - std::max(kDrop.value, kSigma.value * noise(recent));
    low = track.values[i] < limit ? low + 1 : 0;
    if (low >= points_of(kPersist)) found = i;
  }
};

void judge_track(KeptTrack& track, std::vector<Finding>& out) {
  const FormatWalk& walk = track.follow("format-failures", FormatWalk{});
  if (!walk.found) return;
  const size_t i = *walk.found;
  if (walk.hardly_ever) {
    add_finding(track, i + 1 - walk.never, i,
                cat("Only ", format_short(100 * track.values[i], 2), " % of the answers keep the format, for ",
                    walk.never, " records"),
                out);
  } else {
    add_finding(track, i + 1 - walk.low, i, cat("Format pass rate fell from ", walk.best, " to ", track.values[i]),
                out);
  }
}

/// How many answers a rule was asked about. Trainers log only failures of a single rule ("set/rule"); how many answers
/// there were, the set's verdicts show; unknown (0) where there are none.
uint64_t answers_of(const State& state, const std::string& rule, const event::FormatJudged& judged) {
  const size_t slash = rule.find('/');
  if (judged.passed > 0 || slash == std::string::npos) return judged.passed + judged.failed;
  const auto set = state.formats.find(rule.substr(0, slash));
  return set == state.formats.end() ? 0 : set->second.passed + set->second.failed;
}

/// The log says of a good part of all answers that they could not be read, up to now, and the reward does not rise. The
/// first steps of a model that has yet to learn the format are no fault.
void judge_unread(const State& state, JudgeMemory& memory, std::vector<Finding>& out) {
  const auto unread = unread_answers(state);
  if (!unread || unread->share() < kUnread.value) return;
  const int64_t last = state.steps().last;
  const auto least = static_cast<int64_t>(kNeverPoints.value);
  const bool goes_on = unread->said->last.step != kNoStep && last - unread->said->last.step <= unread->steps / 10;
  if (unread->steps < least || !goes_on) return;
  Point from, to;
  from.step = unread->since;
  to.step = last;
  from.attempt = to.attempt = unread->said->last.attempt;
  if (!stands_low(state, memory, from, to)) return;
  Finding finding;
  finding.kind = finding.detector = "format-failures";
  finding.onset = unread->said->first;
  finding.onset.step = unread->since;
  finding.detected = unread->said->last;
  finding.summary = cat(unread->words(), ", and the reward does not rise");
  finding.evidence.push_back({unread->said->first.where, clip(unread->said->text, kTextLimit), "", kNoStep, 0});
  finding.suggests.push_back({"reward-parse-failure", 0.7, unread->words()});
  out.push_back(std::move(finding));
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const size_t before = out.size();
  judge_unread(state, memory, out);
  for (KeptTrack& track : memory.tracks(state, state.find("format.pass_rate"))) judge_track(track, out);
  if (out.size() > before || state.attempts.empty()) return;
  for (const auto& [rule, judged] : state.formats) {
    const double all = static_cast<double>(answers_of(state, rule, judged));
    if (all < kCounted.value || static_cast<double>(judged.failed) < kCountedShare.value * all) continue;
    Finding finding;
    finding.kind = finding.detector = "format-failures";
    finding.onset = state.attempts.front().began;
    finding.detected = state.attempts.back().last;
    finding.summary =
        cat(judged.failed, " of ", answers_of(state, rule, judged), " answers break the format rule '", rule, "'");
    finding.suggests.push_back({"format-failures-rising", 0.5, "answers break the required format"});
    out.push_back(std::move(finding));
    return;
  }
}

}  // namespace

extern const Detector format_failures;
const Detector format_failures{"format-failures",
                               "Answers break the required format more than they did, or nearly always.",
                               {"format-failures"},
                               kKnobs,
                               judge};

}  // namespace mw::detect
