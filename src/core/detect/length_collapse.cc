// Responses become very short or empty. Answers that get shorter while the reward holds are an economy, not a fault.
#include <optional>

#include "base/text.h"
#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 3, "points", "A level needs a few points", "own"};
constexpr Knob kSlight{"slight", 1.5, "x", "So much shorter is worth a line, as information", "own"};
constexpr Knob kSlightPersist{"slight_persist", 2, "points", "The same", "own"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 2, "x", "Times shorter than the longest level so far", "field guide 4.3 rule 14"};
constexpr Knob kDelta{"delta", 20, "tokens", "And at least this much shorter", "own"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "own"};
constexpr Knob kHarm{"reward_loss", 0.15, "ratio", "Fall of the reward that makes it a warning",
                     "field guide 4.3 rule 14 (collapse with reward is a shortcut)"};
constexpr Knob kEmpty{"empty", 5, "x", "So much shorter that only a reward that rises excuses it",
                      "failure catalogue, length-collapse (a quarter)"};
constexpr Knob kGain{"reward_gain", 0.05, "ratio", "Rise of the reward, of its range, that excuses it", "own"};
constexpr Knob kKnobs[] = {kHistory, kWidth, kFactor, kDelta, kPersist, kHarm, kEmpty, kGain, kSlight, kSlightPersist};

/// What had fallen falls once more, to a small part of what was left: no economy any more. Nothing of a fall that was
/// that deep at once.
std::optional<Rise> second_fall(const Track& track, const Rise& fall) {
  if (fall.base / fall.peak > kEmpty.value) return std::nullopt;
  const double limit = fall.peak / kEmpty.value;
  size_t streak = 0;
  for (size_t i = fall.detected + 1; i < fall.ended.value_or(track.size()); ++i) {
    streak = track.values[i] < limit ? streak + 1 : 0;
    if (streak < points_of(kPersist) || fall.peak - limit < kDelta.value) continue;
    Rise deeper = fall;
    deeper.first = deeper.onset = i + 1 - streak;
    while (deeper.onset > fall.detected && track.values[deeper.onset - 1] < fall.peak / kFactor.value) --deeper.onset;
    deeper.detected = i;
    deeper.base = fall.peak;
    deeper.peak = median_of_last(track.slice(0, i + 1), streak);
    return deeper;
  }
  return std::nullopt;
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const RiseRule rule{points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value, points_of(kPersist)};
  RiseRule slight = rule;
  slight.factor = kSlight.value;
  slight.persist = points_of(kSlightPersist);
  for (KeptTrack& track : memory.tracks(state, state.find("response.length"))) {
    std::vector<Rise> found = track.falls("length-collapse", rule);
    const bool grave = !found.empty();
    if (!grave) found = track.falls("length-collapse, slight", slight);
    for (size_t n = 0; n < found.size(); ++n) {
      if (const auto deeper = second_fall(track, found[n]))
        found.insert(found.begin() + 1 + static_cast<std::ptrdiff_t>(n), *deeper);
    }
    for (const Rise& fall : found) {
      const Point& onset = track.points[fall.onset];
      const auto harmed = harmed_at(state, track, fall, kHarm.value);
      const auto reward = outcome_of(state, onset, track.points[fall.detected]);
      const bool empty = fall.base / fall.peak > kEmpty.value && !(reward && reward->rose(kGain.value));
      const bool worse = harmed || empty;
      const Point& now = track.points[harmed.value_or(fall.detected)];
      Finding finding = make_finding(
          "length-collapse", "length-collapse", worse && grave ? Severity::kWarning : Severity::kInfo, onset, now,
          cat("Mean response length fell from ", fall.base, " to ", fall.peak, " tokens since step ", onset.step));
      add_figures(finding, track, fall.onset > 0 ? fall.onset - 1 : 0, fall.detected);
      finding.suggests.push_back(
          {"length-collapse", 0.6, cat("length is a ", format_short(fall.base / fall.peak, 2), "th of its level")});
      if (fall.ended) resolve(finding, track.points[*fall.ended]);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector length_collapse;
const Detector length_collapse{
    "length-collapse", "Responses become very short while the reward falls.", {"length-collapse"}, kKnobs, judge};

}  // namespace mw::detect
