// What the supervisor knows and decided goes into the journal: whatever `state` does not know of it yet. So nothing is
// lost with a midwatch that was killed in between: the next one finds it in the run's folder, and writes it down.
#include "act/supervise/approvals.h"
#include "act/supervise/supervisor.h"
#include "base/text.h"

namespace mw {

Result<void> Supervisor::record(const State& state, EventWriter& writer) const {
  if (stopping() && !state.supervision.stop) MW_TRY(writer.record(event::Requested{"stop", "midwatch"}));
  if (attempt_ == 0) return {};
  MW_TRY(record_attempt(state.supervision, writer));
  MW_TRY(record_approval(state.supervision, Approvals::Deed::kBreak, writer));
  return record_approval(state.supervision, Approvals::Deed::kRestart, writer);
}

Result<void> Supervisor::record_attempt(const Supervision& known, EventWriter& writer) const {
  const SupervisedAttempt none;
  const auto now = [this, &known, &none]() -> const SupervisedAttempt& {
    const SupervisedAttempt* one = known.attempt(attempt_);
    return one == nullptr ? none : *one;
  };
  if (!now().started && kept_.child.known()) {
    MW_TRY(writer.record(event::AttemptStarted{attempt_, kept_.child.pid, kept_.boot}));
  }
  if (!now().exited && (kept_.ending || !kept_.failure.empty())) {
    event::AttemptExited exited{attempt_, false, -1, 0, kept_.failure};
    if (kept_.ending) {
      exited.known = kept_.ending->known;
      exited.code = kept_.ending->code;
      exited.signal = kept_.ending->signal;
    }
    MW_TRY(writer.record(std::move(exited)));
  }
  const bool judged = static_cast<int>(outcomes_.size()) == attempt_;
  if (now().decided || !judged) return {};
  return writer.record(event::Decided{attempt_, decision_.restart, decision_.wait.seconds(), decision_.why, facts_});
}

Result<void> Supervisor::record_approval(const Supervision& known, Approvals::Deed action, EventWriter& writer) const {
  const SupervisedAttempt* attempt = known.attempt(attempt_);
  const bool breaking = action == Approvals::Deed::kBreak;
  const std::string name = breaking ? "break" : "restart";
  const Approval was = attempt == nullptr ? Approval() : breaking ? attempt->breaking : attempt->restarting;
  const auto answer = [&](std::string_view text) {
    return writer.record(event::Answered{attempt_, name, std::string(text)});
  };
  if (approvals_.was_asked(action)) {
    if (!was.asked) MW_TRY(writer.record(event::Asked{attempt_, name}));
    const bool given = !approvals_.asks(action);
    return given && was.answer != Approval::Answer::kYes ? answer("yes") : Result<void>();
  }
  if (breaking && approvals_.refused()) return was.answer != Approval::Answer::kNo ? answer("no") : Result<void>();
  return was.asked ? answer("withdrawn") : Result<void>();
}

}  // namespace mw
