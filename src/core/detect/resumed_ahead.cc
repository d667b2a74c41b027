// Resumed from a step that no attempt before had reached: from somebody else's checkpoint.
#include <algorithm>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/detect/detector.h"
#include "core/detect/support/progress.h"
#include "core/reach.h"

namespace mw::detect {
namespace {

const event::CheckpointSeen* seen_before(const State& state, size_t attempt, int64_t step) {
  for (auto one = state.checkpoint_scans.rbegin(); one != state.checkpoint_scans.rend(); ++one) {
    if (one->second.step == step && one->first.attempt < attempt && !is_gone(one->second)) return &one->second;
  }
  return nullptr;
}

void judge(const State& state, const Knowledge&, std::vector<Finding>& out) {
  for (size_t i = 1; i < state.attempts.size(); ++i) {
    const AttemptState& attempt = state.attempts[i];
    if (attempt.resumed_at == kNoStep || attempt.first_step < attempt.resumed_at) continue;  // or its steps count anew
    const Reach reach = reach_before(state, i);
    if (reach.beyond == kNoStep || attempt.resumed_at <= reach.beyond) continue;
    const event::CheckpointSeen* seen = seen_before(state, i, attempt.resumed_at);
    if (seen == nullptr && !reach.names_saves) continue;
    const std::string what = seen != nullptr ? seen->path : "that checkpoint";
    Finding finding;
    finding.kind = "checkpoint-suspect";
    finding.detector = "resumed-ahead";
    finding.severity = reach.names_saves ? Severity::kCritical : Severity::kWarning;
    finding.onset = attempt.began;
    finding.onset.step = attempt.resumed_at;
    finding.detected = first_record(state, i, attempt.first_step);
    finding.summary = cat("Attempt ", i + 1, " resumed from step ", attempt.resumed_at,
                          ", and no attempt before had come further than step ", reach.named,
                          reach.names_saves ? ", or saved that step: " : ": ", what, " may be another run's");
    finding.evidence.push_back({attempt.began.where, what, "", kNoStep, 0});
    finding.suggests.push_back({"resumed-from-another-run", 0.7, "the run had not reached that step"});
    out.push_back(std::move(finding));
    return;
  }
}

}  // namespace

extern const Detector resumed_ahead;
const Detector resumed_ahead{"resumed-ahead",
                             "An attempt resumes from a checkpoint of a step that no attempt before it had reached.",
                             {"checkpoint-suspect"},
                             {},
                             judge};

}  // namespace mw::detect
