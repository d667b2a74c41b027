// How a supervisor breaks an attempt off or pauses it, and what it asks a person before that.
#include <algorithm>
#include <csignal>

#include "act/keeper/launch.h"
#include "act/supervise/supervisor.h"
#include "act/supervise/tainted.h"
#include "base/text.h"
#include "core/supervise/client.h"
#include "core/supervise/decide.h"

namespace mw {
namespace {

constexpr Duration kAnewGrace = Duration::seconds(1);  // it is about to save over what is whole

/// The attempt that runs now said that it begins to save.
bool has_begun_to_save(const State& state) {
  return std::any_of(state.checkpoints.begin(), state.checkpoints.end(),
                     [&state](const auto& one) { return one.first.attempt + 1U == state.attempts.size(); });
}

}  // namespace

/// Stops the processes of the attempt for as long as it is to be paused, and those that it starts meanwhile.
Result<void> Supervisor::keep_paused(const State& state, EventWriter& writer) {
  if (kept_.ending || !kept_.child.known() || stopping() || trip_) return {};
  const PauseStep step = decide_pause(state.supervision, paused_);
  if (step == PauseStep::kNone) return {};
  if (step == PauseStep::kKeepPaused) {
    (void)tree_.pause();
    return {};
  }
  const bool pause = step == PauseStep::kPause;
  if (pause && trains_elsewhere(state, spec_.command)) return refuse_pause(state, writer);
  const auto action = writer.intend(
      {0, std::string(pause ? kPause : kResume), attempt_name(attempt_), 0, pause_reason(state.supervision, attempt_)});
  if (!action.ok()) return action.error();
  const size_t processes = pause ? tree_.pause() : tree_.resume();
  writer.acted({*action, true, cat(processes, processes == 1 ? " process" : " processes"), 0});
  paused_ = pause;
  doors_.say(pause ? "the command is paused; midwatch resume continues it" : "the command is resumed");
  return {};
}

/// A client that stands still stops no training: nobody is to believe that it does.
Result<void> Supervisor::refuse_pause(const State& state, EventWriter& writer) const {
  const std::string text = "not paused: the training is no process below the command, and goes on";
  if (state.supervision.pause_by == kByComponent) return {};  // it asks again and again
  MW_TRY(writer.record(event::Requested{kResume, std::string(kByMidwatch)}));
  doors_.say(text);
  return writer.note({"midwatch", text}, doors_.clock.now());
}

/// Asks a person, or reports what would be done where midwatch only watches: once for each text.
Result<void> Supervisor::ask(const char* action, const Decision& decision, EventWriter& writer) {
  const bool asks = decision.what == Decision::What::kAsk;
  const std::string otherwise =
      std::string_view(action) == kBreak ? "midwatch resume continues it" : "midwatch stop ends the run instead";
  const std::string text =
      asks ? cat(decision.text, ". ", decision.why, " May it? midwatch approve says yes; ", otherwise, ".")
           : cat("Only watching: ", decision.text, ". ", decision.why);
  MW_TRY(writer.record(event::Asked{attempt_, action, decision.text}));
  if (!asks) MW_TRY(writer.record(event::Answered{attempt_, action, std::string(kOnlyWatching)}));
  doors_.say(text);
  return writer.note({"midwatch", text}, doors_.clock.now());
}

Result<void> Supervisor::trip(const Incident& incident, EventWriter& writer) {
  const Trip trip = trip_on(incident);
  const std::string since = trip.step == kNoStep ? "" : cat(" since step ", trip.step);
  const auto action = writer.intend(
      {0, std::string(kBreak), attempt_name(attempt_), incident.id, cat(trip.kind, since, ": ", trip.summary)});
  if (!action.ok()) return action.error();
  breaking_ = *action;
  MW_TRY(writer.record(tripped_event(attempt_, trip)));
  MW_TRY(doors_.write_file(cat(attempt_folder(), "/", kReasonFile), reason_text(kByBreaker, spec_.nonce)));
  doors_.say(cat("the circuit breaker ends attempt ", attempt_, ", ", trip.kind, since, ": ", trip.summary));
  trip_ = trip;
  return {};
}

/// An attempt that trains on poisoned data and is about to save is killed; another one is asked to end. What it saves
/// even then is tainted, as all that it saved since the onset.
Result<void> Supervisor::trip_on_poison(const State& state, EventWriter& writer) {
  if (kept_.ending || !settled_) return {};
  if (!trip_) {
    const BreakDecision due = decide_break(state, spec_, attempt_);
    using What = Decision::What;
    const What what = due.decision.what;
    if (what == What::kAsk || what == What::kReport) MW_TRY(ask(kBreak, due.decision, writer));
    if (what == What::kWithdraw) {
      MW_TRY(writer.record(event::Answered{attempt_, kBreak, "withdrawn"}));
      doors_.say("what midwatch asked about is over: it asks no more");
    }
    if (due.decision.pause) MW_TRY(writer.record(event::Requested{kPause, "midwatch"}));
    if (what != What::kAct) return {};
    if (due.decision.unanswered) {
      MW_TRY(writer.record(event::Answered{attempt_, kBreak, std::string(kUnanswered)}));
      doors_.say(due.decision.why);
      MW_TRY(writer.note({"midwatch", due.decision.why}, doors_.clock.now()));
    }
    MW_TRY(trip(*due.incident, writer));
  }
  const bool waits = trip_->kind == "stall" || trip_->kind == "worker-lost";  // and learns nothing meanwhile
  if (waits && looked_at_ && looked_at_()) return {};
  const bool anew = trip_->kind == "restart-from-scratch";
  if (save_is_due(state) || (anew && (paused_ || has_begun_to_save(state)))) {
    tree_.kill();
  } else if (anew) {
    // Its launcher may clean up. Of SIGINT many trainers save, and that is not to be what a resume goes on from.
    tree_.ask_by(SIGTERM);
    tree_.ask_to_end(std::min(spec_.grace, kAnewGrace), false);
  } else {
    tree_.ask_to_end(spec_.grace, false);
  }
  return {};
}

Result<void> Supervisor::approve(const State& state, EventWriter& writer) {
  const SupervisedAttempt* known = state.supervision.attempt(attempt_);
  // By the journal: whoever reattaches takes what was left for it before its own first look at the run.
  const bool over = known != nullptr && known->decided;
  const bool breaking = known != nullptr && !over && phase_ == Phase::kRunning && known->breaking.asked;
  const bool restarting = over && known->restart && phase_ != Phase::kOver && spec_.restarting == Mode::kAsk;
  if (breaking || restarting) {
    const char* action = breaking ? kBreak : kRestart;
    MW_TRY(writer.record(event::Answered{attempt_, action, "yes"}));
    // Also where the midwatch that was asked died between the two.
    if (breaking && state.supervision.pause) MW_TRY(writer.record(event::Requested{kResume, "midwatch"}));
    return {};
  }
  doors_.say("nothing is asked just now");
  return {};
}

Result<void> Supervisor::refuse(const State& state, EventWriter& writer) {
  const SupervisedAttempt* known = state.supervision.attempt(attempt_);
  if (known == nullptr || phase_ != Phase::kRunning || !known->breaking.waits()) return {};
  return writer.record(event::Answered{attempt_, kBreak, "no"});
}

}  // namespace mw
