// What the next attempt begins with: tainted and broken checkpoints are out of its way before it does.
#include "act/supervise/rollback_plan.h"
#include "act/supervise/supervisor.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr Duration kTryAgain = Duration::seconds(30);  // what the disk refused to do

}  // namespace

/// Checkpoints that were saved since the onset are quarantined, so that the next attempt resumes from before it.
Result<void> Supervisor::roll_back_first(const State& state, EventWriter& writer) {
  if (back_.plans.empty()) return {};
  const auto action = writer.intend({0, "quarantine", cat("checkpoints from step ", back_.from, " on"), 0, back_.why});
  if (!action.ok()) return action.error();
  const QuarantineManifest of = quarantine_note(folder_, attempt_, doors_.clock.now(), back_.why);
  const auto done = roll_back(doors_.disk, doors_.layout(framework_), back_, of);
  writer.acted({*action, done.ok(), done.ok() ? *done : done.error().what, 0});
  if (!done.ok()) {
    due_ = {doors_.clock.steady().ns + kTryAgain.ns};
    if (!may_pass(done.error())) return give_up_rolling_back(state, done.error(), writer);
    return done.error();
  }
  doors_.say(*done);
  back_ = {};
  return {};
}

/// No further try would go better: the run is over, for the next midwatch too.
Result<void> Supervisor::give_up_rolling_back(const State& state, const Error& error, EventWriter& writer) {
  const SupervisedAttempt* known = state.supervision.attempt(attempt_);
  if (known == nullptr) return error;
  Judgement judged = judgement_of(*known);
  judged.decision.restart = judged.asks = false;
  judged.decision.why =
      cat(why_over_, " But: The checkpoints since step ", back_.from, " cannot be quarantined: ", error.what, ".");
  MW_TRY(writer.record(decided_event(attempt_, judged)));
  why_over_ = judged.decision.why;
  phase_ = Phase::kOver;
  doors_.say(cat(why_over_, " No restart"));
  return {};
}

}  // namespace mw
