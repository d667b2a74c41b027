// What is to be done about a supervised run, and why, or why nothing is. Pure: the same state and the same RunSpec give
// the same decision. Whoever carries it out (act/supervise/supervisor.h) records it before it is done.
#pragma once

#include <cstdint>
#include <string>

#include "core/state.h"
#include "core/supervise/breaker.h"
#include "core/supervise/run_spec.h"

namespace mw {

struct Decision {
  enum class What {
    kNothing,   ///< `why` says why not
    kAsk,       ///< ask a person whether it may be done
    kReport,    ///< report that it would be done: midwatch only watches
    kWithdraw,  ///< the reason to ask is gone
    kAct,       ///< do it
  };
  What what = What::kNothing;
  std::string why;          ///< one sentence for people
  std::string text;         ///< what would be done, without a full stop: the text of event::Asked
  bool unanswered = false;  ///< kAct, as a person was asked and did not answer in time
  bool pause = false;       ///< and stop the attempt's processes (SIGSTOP) until a person answers
};

struct BreakDecision {
  Decision decision;
  const Incident* incident = nullptr;  ///< for which; lives as long as the state
};
/// Should the attempt that runs be ended by the circuit breaker? `state` has read the attempt's own lines.
BreakDecision decide_break(const State& state, const RunSpec& spec, int64_t attempt);

/// `attempt` is over and another one was decided on: may it begin now?
Decision decide_restart(const State& state, const RunSpec& spec, int64_t attempt);

enum class PauseStep { kNone, kPause, kKeepPaused, kResume };
/// What is due with the processes of the attempt that runs. `stopped`: they were stopped (SIGSTOP), or may have been.
PauseStep decide_pause(const Supervision& known, bool stopped);
/// Why, for people.
std::string pause_reason(const Supervision& known, int64_t attempt);

}  // namespace mw
