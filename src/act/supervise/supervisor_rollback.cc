// What the next attempt begins with: tainted and broken checkpoints are out of its way before it does.
#include "act/supervise/rollback_plan.h"
#include "act/supervise/supervisor.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr Duration kTryAgain = Duration::seconds(30);  // what the disk refused to do

}  // namespace

std::string Supervisor::called_back_from() const { return number_called(doors_.layout(framework_), back_.from); }

/// Checkpoints that were saved since the onset are quarantined, so that the next attempt resumes from before it.
Result<void> Supervisor::roll_back_first(const State& state, EventWriter& writer) {
  if (back_.plans.empty()) return {};
  const auto action =
      writer.intend({0, "quarantine", cat("checkpoints from ", called_back_from(), " on"), 0, back_.why});
  if (!action.ok()) return action.error();
  const auto done = roll_back_somehow(writer);
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

/// A disk that is full takes no manifest: first the broken ones go that are in the way, where that is allowed, so that
/// the next attempt has room to save, too; else the manifest is kept with the run's record.
Result<std::string> Supervisor::roll_back_somehow(EventWriter& writer) {
  const QuarantineManifest of = quarantine_note(folder_, attempt_, doors_.clock.now(), back_.why);
  const CheckpointLayout layout = doors_.layout(framework_);
  auto done = roll_back(doors_.disk, layout, back_, of, nullptr);
  const auto full = [&done] { return !done.ok() && done.error().code == Error::Code::kFull; };
  if (full() && free_broken_) {
    bool any = false;
    for (const QuarantinePlan& plan : back_.plans) any = free_broken_(layout, plan, writer) || any;
    if (any) done = roll_back(doors_.disk, layout, back_, of, nullptr);
  }
  if (full()) done = roll_back(doors_.disk, layout, back_, of, doors_.write_file);
  if (!full()) return done;
  std::string roots;
  for (const QuarantinePlan& plan : back_.plans) roots += cat(roots.empty() ? "" : ", ", plan.root);
  return Error{Error::Code::kFull,
               cat("the checkpoints from ", called_back_from(), " on cannot be quarantined, as the disk of ", roots,
                   " is full: free some space there. The next attempt begins then; midwatch tries again every ",
                   format_duration(kTryAgain), " (", done.error().what, ")"),
               ""};
}

/// No further try would go better: the run is over, for the next midwatch too.
Result<void> Supervisor::give_up_rolling_back(const State& state, const Error& error, EventWriter& writer) {
  const SupervisedAttempt* known = state.supervision.attempt(attempt_);
  if (known == nullptr) return error;
  Judgement judged = judgement_of(*known);
  judged.decision.restart = judged.asks = false;
  judged.decision.why =
      cat(why_over_, " But: The checkpoints since ", called_back_from(), " cannot be quarantined: ", error.what, ".");
  MW_TRY(writer.record(decided_event(attempt_, judged)));
  why_over_ = judged.decision.why;
  phase_ = Phase::kOver;
  doors_.say(cat(why_over_, " No restart"));
  return {};
}

}  // namespace mw
