// Ended in mid-flight: the files stop while a plan is open, with no error and no end.
#include "base/text.h"
#include "core/detect/detector.h"

namespace mw::detect {
namespace {

constexpr Knob kKnobs[] = {
    {"done_share", 0.9, "ratio", "A run that has done this much of its plan may have stopped by its own rules",
     "issue 2"},
};

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  if (!state.closed || state.attempts.empty()) return;
  const AttemptState& attempt = state.attempts.back();
  if (attempt.ended) return;
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  const int64_t done = attempt.last_step;
  if (total <= 0 || done == kNoStep) return;
  if (static_cast<double>(done) >= kKnobs[0].value * static_cast<double>(total)) return;
  Finding finding;
  finding.kind = "died-silently";
  finding.detector = "died-silently";
  finding.onset = attempt.last;
  finding.detected = attempt.last;
  finding.summary = cat("The files end at step ", done, " of ", total,
                        " with no error and no end; they may have been copied while the run was going");
  out.push_back(std::move(finding));
}

}  // namespace

extern const Detector died_silently;
const Detector died_silently{
    "died-silently", "The files stop in mid-flight with no error and no end.", {"died-silently"}, kKnobs, judge};

}  // namespace mw::detect
