// What the next attempt begins with: tainted and broken checkpoints are out of its way before it does.
#include "act/supervise/resume.h"
#include "act/supervise/rollback_plan.h"
#include "act/supervise/supervisor.h"
#include "base/text.h"
#include "core/overwrites.h"
#include "sense/checkpoints/output_words.h"
#include "sense/checkpoints/roots.h"

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

/// A run that goes on with one of another machine: what its first attempt is to go on from.
void Supervisor::note_what_is_there(const State& state, EventWriter& writer) const {
  if (spec_.first_step == 0 || spec_.from_scratch || to_go_on_from(state) != nullptr) return;
  const auto step = static_cast<int64_t>(spec_.first_step);
  const std::vector<std::string> outputs = output_folders(spec_.command, spec_.folder);
  std::vector<std::string> roots = spec_.checkpoints;
  if (!spec_.first_root.empty()) roots.insert(roots.begin(), spec_.first_root);
  for (const std::string& root : roots) {
    const auto names = doors_.disk.list(root);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      const size_t digits = name.find_last_not_of("0123456789");
      if (digits == std::string::npos || parse_int(std::string_view(name).substr(digits + 1)) != step) continue;
      const auto holds = [&root](const std::string& folder) { return lies_in(plain_path(root), folder); };
      const bool near = holds(plain_path(spec_.folder)) || std::any_of(outputs.begin(), outputs.end(), holds);
      event::CheckpointSeen seen;
      seen.step = step;
      seen.path = cat(root, "/", name);
      seen.how = event::CheckpointSeen::How::kWhole;
      seen.what = near ? kToGoOnFrom : kToGoOnFromElsewhere;
      return writer.observed(std::string(kScanSource), std::move(seen));
    }
  }
}

/// Between the decision and the start another run may have saved into the same folder.
Result<bool> Supervisor::is_clear(const State& state, EventWriter& writer) {
  if (!remains_) MW_TRY(look_at_remains(state));
  const CheckpointLayout layout = doors_.layout(framework_);
  const auto anothers = anothers_in_the_way(
      doors_.disk, {remains_->own, layout, remains_->roots, way_, names_checkpoint(layout, spec_), ""});
  if (!anothers.ok()) return anothers.error();
  if (anothers->empty()) return true;
  MW_TRY(give_up(state, cat(why_over_, " But ", *anothers, ": a person must look."), writer));
  return false;
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
  if (state.supervision.attempt(attempt_) == nullptr) return error;
  return give_up(
      state,
      cat(why_over_, " But: The checkpoints since ", called_back_from(), " cannot be quarantined: ", error.what, "."),
      writer);
}

Result<void> Supervisor::give_up(const State& state, std::string why, EventWriter& writer) {
  const SupervisedAttempt* known = state.supervision.attempt(attempt_);
  Judgement judged = known != nullptr ? judgement_of(*known) : Judgement();
  judged.decision.restart = judged.asks = false;
  judged.decision.why = std::move(why);
  MW_TRY(writer.record(decided_event(attempt_, judged)));
  why_over_ = judged.decision.why;
  phase_ = Phase::kOver;
  doors_.say(cat(why_over_, " No restart"));
  return {};
}

}  // namespace mw
