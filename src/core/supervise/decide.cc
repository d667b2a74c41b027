#include "core/supervise/decide.h"

#include <algorithm>

#include "base/text.h"
#include "core/detect/support/rhythm.h"
#include "core/detect/support/sooner.h"
#include "core/supervise/client.h"

namespace mw {
namespace {

using What = Decision::What;

Approval approval_of(const State& state, int64_t attempt, Approval SupervisedAttempt::*action) {
  const SupervisedAttempt* known = state.supervision.attempt(attempt);
  return known == nullptr ? Approval() : known->*action;
}

Decision nothing(std::string why) { return {What::kNothing, std::move(why), ""}; }

/// By the mode of the action and what a person said. Each `text` is asked or reported once.
Decision decide(Mode mode, const Approval& approval, std::string text, std::string why) {
  if (mode == Mode::kAct || approval.answer == Approval::Answer::kYes) return {What::kAct, std::move(why), ""};
  const bool known = approval.text == text && (mode == Mode::kWatch || approval.asked);
  if (known) return nothing(mode == Mode::kWatch ? "midwatch only watches." : "It waits for approval.");
  return {mode == Mode::kWatch ? What::kReport : What::kAsk, std::move(why), std::move(text)};
}

/// The mode of the action, by what the case rests on.
Mode mode_of(const RunSpec& spec, BreakReason why) {
  switch (why) {
    case BreakReason::kLearning:
      return spec.breaking_learning;
    case BreakReason::kHang:
      return spec.breaking_hang;
    case BreakReason::kDeadComponent:
    case BreakReason::kRule:
    case BreakReason::kFromScratch:
      return spec.breaking;
  }
  return spec.breaking;
}

/// How much longer a hang is waited for; 0: no longer.
Duration patience_left(const State& state, const RunSpec& spec, const Incident& hang) {
  const Time now = state.ticks.empty() ? state.last_at : state.ticks.back().at;
  if (!now.known() || !hang.detected.at.known()) return spec.hang_patience;
  return {std::max<int64_t>(0, spec.hang_patience.ns - (now - hang.detected.at).ns)};
}

/// A person was asked about a hang, gave no answer in time, and a second witness says that the run has rested ever
/// since. Watched time counts alone, so that a clock that is set forward answers for nobody. "": that is not so.
std::string unanswered(const State& state, const RunSpec& spec, const Approval& approval) {
  if (!approval.waits() || spec.answer_patience.ns == 0 || !approval.asked_at.known() || state.ticks.empty()) return "";
  if (state.ticks.back().at - approval.asked_at < spec.answer_patience) return "";
  if (detect::standstill(state).quiet < spec.hang_patience.seconds() + spec.answer_patience.seconds()) return "";
  const auto rests = detect::has_rested_since(state, approval.asked_at);
  if (!rests) return "";
  return cat("Nobody answered within ", format_duration(spec.answer_patience), ", and ", rests->why, ".");
}

/// What follows where nobody answers: by the time of asking it is known whether there is a second witness.
std::string without_answer(const State& state, const RunSpec& spec) {
  if (spec.answer_patience.ns == 0 || state.ticks.empty()) return "";
  if (detect::has_rested_since(state, state.ticks.back().at)) {
    return cat(" Without an answer within ", format_duration(spec.answer_patience),
               " midwatch does so by itself, if the run goes on resting.");
  }
  return " Without an answer midwatch waits: its silence alone does not show that it hangs. [actions] break_hang = "
         "\"act\", or --unattended, ends it without asking.";
}

}  // namespace

BreakDecision decide_break(const State& state, const RunSpec& spec, int64_t attempt) {
  if (!spec.breaker) return {nothing("The circuit breaker is off."), nullptr};
  const Approval approval = approval_of(state, attempt, &SupervisedAttempt::breaking);
  if (approval.answer == Approval::Answer::kNo) return {nothing("A person refused."), nullptr};
  const BreakCase found = breaker(state, spec.from_scratch);
  if (found.incident == nullptr) {
    // A paused attempt reports no figures: that its case is gone shows once it goes on.
    if (!approval.asked || state.supervision.pause) return {nothing("Nothing speaks against the attempt."), nullptr};
    return {{What::kWithdraw, "What midwatch asked about is over.", ""}, nullptr};
  }
  const Incident& incident = *found.incident;
  const bool learning = found.why == BreakReason::kLearning, hangs = found.why == BreakReason::kHang;
  if (const Duration left = hangs ? patience_left(state, spec, incident) : Duration(); left.ns > 0) {
    return {nothing(cat("It does nothing any more; midwatch waits ", format_duration(left), " longer.")), nullptr};
  }
  // Nothing ends or pauses what is rewarded again: it may be over, and the next zero speaks for itself.
  if (learning && incident.kind == "zero-reward" && approval.answer != Approval::Answer::kYes && has_left_floor(state))
    return {nothing("The newest reward is above the floor."), nullptr};
  // Ending a client, or stopping it, ends and stops no training.
  const bool elsewhere = trains_elsewhere(state, spec.command);
  const Mode mode = elsewhere ? Mode::kWatch : mode_of(spec, found.why);
  const std::string since = incident.onset.step == kNoStep ? "" : cat(" since step ", incident.onset.step);
  const std::string alone = hangs ? without_answer(state, spec) : "";
  BreakDecision made{decide(mode, approval, cat("attempt ", attempt, " would be ended: ", incident.kind, since),
                            cat(incident.summary, ".",
                                elsewhere ? " A person must end it: the training is no process below the command."
                                : mode == Mode::kAsk ? alone
                                                     : "")),
                     found.incident};
  if (hangs && mode == Mode::kAsk) {
    if (std::string why = unanswered(state, spec, approval); !why.empty()) {
      made.decision = {What::kAct, std::move(why), "", true};
    }
  }
  // Of an attempt that is paused one learns no more: where only figures speak against it, it goes on until it is about
  // to save.
  const bool waits = mode == Mode::kAsk && made.decision.what != What::kAct;
  made.decision.pause = waits && !hangs && !state.supervision.pause && (!learning || save_is_due(state));
  return made;
}

Decision decide_restart(const State& state, const RunSpec& spec, int64_t attempt) {
  const SupervisedAttempt* known = state.supervision.attempt(attempt);
  if (known == nullptr || !known->decided || !known->restart) return nothing("No further attempt was decided on.");
  if (state.supervision.stop) return nothing("The run is to stop.");
  if (state.supervision.pause) return nothing("The run is paused.");
  return decide(spec.restarting, known->restarting,
                cat("attempt ", attempt, " is over and attempt ", attempt + 1, " would begin"), known->why);
}

PauseStep decide_pause(const Supervision& known, bool stopped) {
  if (known.pause) return stopped ? PauseStep::kKeepPaused : PauseStep::kPause;
  return stopped ? PauseStep::kResume : PauseStep::kNone;
}

std::string pause_reason(const Supervision& known, int64_t attempt) {
  if (!known.pause) {
    const auto last = std::find_if(known.requests.rbegin(), known.requests.rend(),
                                   [](const Supervision::Request& one) { return one.what == "resume"; });
    const bool by_component = last != known.requests.rend() && last->who == kByComponent;
    return by_component ? "No component that it needs is being restarted any more." : "A resume was requested.";
  }
  const SupervisedAttempt* one = known.attempt(attempt);
  if (one != nullptr && one->breaking.waits()) return "Until a person approves ending it, or resumes it.";
  return known.pause_by == kByComponent ? "A component that it needs is being restarted." : "A pause was requested.";
}

}  // namespace mw
