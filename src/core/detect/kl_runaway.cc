// The policy runs away from its reference: KL far above its level, for good, without reward to show for it.
#include "base/text.h"
#include "core/detect/tools/track.h"

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
constexpr Knob kKnobs[] = {kHistory, kWidth, kFactor, kDelta, kPersist, kGain};

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  const RiseRule rule{
      points_of(kHistory), points_of(kWidth), kFactor.value, kDelta.value, points_of(kPersist), 0, false};
  for (const Track& track : tracks_of(state.find("kl.ref"))) {
    for (const Rise& rise : rises(track, rule)) {
      const Point& onset = track.points[rise.onset];
      const Point& now = track.points[rise.detected];
      const auto reward = shift_of(reward_series(state), onset, now, 10);
      Severity severity = Severity::kWarning;
      if (reward && reward->relative() < -0.2) severity = Severity::kCritical;
      if (reward && reward->relative() > kGain.value) severity = Severity::kInfo;
      if (rise.ended && severity == Severity::kCritical) severity = Severity::kWarning;
      Finding finding = make_finding(
          "kl-runaway", "kl-runaway", severity, onset, now,
          cat("KL to the reference rose from ", rise.base, " to ", rise.peak, " nats since step ", onset.step));
      add_figures(finding, track, rise.onset > 0 ? rise.onset - 1 : 0, rise.detected);
      finding.suggests.push_back({"kl-explosion", 0.6, cat("KL ", rise.peak, " against a level of ", rise.base)});
      if (rise.ended) resolve(finding, track.points[*rise.ended]);
      out.push_back(std::move(finding));
    }
  }
}

}  // namespace

extern const Detector kl_runaway;
const Detector kl_runaway{
    "kl-runaway", "The policy runs away from its reference and gains nothing by it.", {"kl-runaway"}, kKnobs, judge};

}  // namespace mw::detect
