// What the keeper's record shows of an attempt goes into the journal: whatever `state` does not know of it yet. So
// nothing is lost with a midwatch that was killed in between.
#include "act/supervise/supervisor.h"

namespace mw {

Result<void> Supervisor::record(const State& state, EventWriter& writer) const {
  if (attempt_ == 0) return {};
  const SupervisedAttempt none;
  const auto now = [this, &state, &none]() -> const SupervisedAttempt& {
    const SupervisedAttempt* one = state.supervision.attempt(attempt_);
    return one == nullptr ? none : *one;
  };
  if (!now().started && kept_.child.known()) {
    MW_TRY(writer.record(event::AttemptStarted{attempt_, kept_.child.pid, kept_.boot}));
  }
  if (now().exited || (!kept_.ending && kept_.failure.empty())) return {};
  event::AttemptExited exited{attempt_, false, -1, 0, kept_.failure};
  if (kept_.ending) {
    exited.known = kept_.ending->known;
    exited.code = kept_.ending->code;
    exited.signal = kept_.ending->signal;
  }
  // Its own time, which the keeper knows: a midwatch that was gone meanwhile hears of it later.
  return writer.record(std::move(exited), kept_.ending ? kept_.ending->at : Time());
}

}  // namespace mw
