// Responses grow far beyond their level without reward to show for it. Moderate growth with reward is how reasoning
// training works.
#include <optional>

#include "base/text.h"
#include "core/detect/tools/further.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {
namespace {

constexpr Knob kHistory{"history", 5, "points", "A level needs a few points", "own"};
constexpr Knob kWidth{"width", 10, "points", "Baseline window", "own"};
constexpr Knob kFactor{"factor", 2, "x", "Times the level right before",
                       "field guide 4.3 rule 14 (1.5 x in 20 steps without gain), above prompt-mix noise"};
constexpr Knob kDelta{"delta", 50, "tokens", "And at least this much more", "own"};
constexpr Knob kPersist{"persist", 3, "points", "It stays", "failure catalogue (3 steps)"};
constexpr Knob kHarm{"reward_loss", 0.15, "ratio", "Fall of the reward that makes it a warning",
                     "field guide 4.3 rule 14"};
constexpr Knob kSlowFactor{"slow_factor", 2.5, "x",
                           "A slow rise: times the lowest level so far, while the reward falls", "own"};
constexpr Knob kKnobs[] = {kHistory, kWidth, kFactor, kDelta, kPersist, kHarm, kSlowFactor};

void add_finding(const State& state, const Track& track, const Rise& rise, std::optional<size_t> harmed,
                 std::vector<Finding>& out) {
  const Point& onset = track.points[rise.onset];
  const Point& now = track.points[harmed.value_or(rise.detected)];
  const auto cut = shift_of(state, "response.truncated", onset, now, 5);
  const bool truncated = cut && cut->after >= 0.5;  // the detector of truncation reports this chain
  Finding finding = make_finding("length-explosion", "length-explosion",
                                 harmed && !truncated ? Severity::kWarning : Severity::kInfo, onset, now,
                                 cat("Mean response length rose from ", rise.base, " to ", rise.peak,
                                     " tokens since step ", onset.step, and_further(track, change_of(rise))));
  add_figures(finding, track, rise.onset > 0 ? rise.onset - 1 : 0, rise.detected);
  finding.suggests.push_back({"length-explosion-truncation", 0.6,
                              cat("length is ", format_short(rise.peak / rise.base, 2), " times its level")});
  if (rise.ended) resolve(finding, track.points[*rise.ended]);
  out.push_back(std::move(finding));
}

void judge(const State& state, const Knowledge&, JudgeMemory& memory, std::vector<Finding>& out) {
  const RiseRule rule{
      points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value, points_of(kPersist), 0, false};
  RiseRule slow = rule;
  slow.factor = kSlowFactor.value;
  slow.from_lowest = true;
  for (KeptTrack& track : memory.tracks(state, state.find("response.length"))) {
    bool grave = false;
    for (const Rise& rise : track.rises("length-explosion", rule)) {
      const auto harmed = harmed_at(state, track, rise, kHarm.value);
      grave |= harmed.has_value();
      add_finding(state, track, rise, harmed, out);
    }
    for (const Rise& rise : grave ? std::vector<Rise>{} : track.rises("length-explosion, slow", slow)) {
      const auto harmed = harmed_at(state, track, rise, kHarm.value);
      if (harmed) add_finding(state, track, rise, harmed, out);
    }
  }
}

}  // namespace

extern const Detector length_explosion;
const Detector length_explosion{"length-explosion",
                                "Responses grow far beyond their level while the reward falls.",
                                {"length-explosion"},
                                kKnobs,
                                judge};

}  // namespace mw::detect
