// How a supervisor finds a run that another midwatch left: its attempts in the run's folder, what was requested and
// decided in the journal.
#include <algorithm>

#include "act/keeper/launch.h"
#include "act/supervise/members.h"
#include "act/supervise/old_files.h"
#include "act/supervise/supervisor.h"
#include "base/text.h"
#include "core/supervise/action_kind.h"
#include "core/supervise/decide_component.h"
#include "platform/durable.h"

namespace mw {
namespace {

// Between two snapshots of who has come from an attempt: who carries no marker is known by them alone once its parents
// are gone, however much they cost.
constexpr Duration kMembers = Duration::seconds(2);
constexpr Duration kYoung = Duration::seconds(20);  // of an attempt

}  // namespace

/// Finds the attempts that were begun, and the last one's keeper.
Result<void> Supervisor::reattach() {
  for (;;) {
    const auto launch = launch_in(doors_.disk, attempt_folder(attempt_ + 1));
    if (!launch.ok()) return launch.error();
    if (!*launch || (*launch)->nonce != spec_.nonce) break;
    ++attempt_;
  }
  if (attempt_ == 0) return {};
  auto kept = read_kept(doors_.disk, attempt_folder());
  if (!kept.ok()) return kept.error();
  kept_ = *kept;
  phase_ = Phase::kRunning;
  keeper_from_ = {doors_.clock.steady().ns - kKeeperBegins.ns};
  tree_.take(attempt_, marker_of(spec_, attempt_));
  ended_ = doors_.clock.steady();
  return {};
}

/// What was requested and decided before, of which `state` is the record; what was begun then is settled.
Result<void> Supervisor::read_decisions(const State& state, EventWriter& writer) {
  MW_TRY(record_old_files(doors_.disk, folder_, spec_, attempt_, state, writer));
  decisions_read_ = true;
  if (state.supervision.stop) {
    stop_ = std::max(stop_, Stop::kAsked);
    stop_why_ = given_up(state.supervision);
  }
  const SupervisedAttempt* before = state.supervision.attempt(attempt_ - 1);
  if (before != nullptr && before->decided) resume_ = judgement_of(*before).resume;
  if (const SupervisedAttempt* known = state.supervision.attempt(attempt_); known != nullptr) {
    if (known->trip) trip_ = trip_of(*known->trip);
    if (known->members && known->members->boot == doors_.processes.boot()) {
      tree_.remember(parse_members(known->members->processes));
    }
    if (known->decided) heed(*known);
  }
  if (phase_ == Phase::kRunning && kept_.child.known() && !kept_.ending) {
    doors_.say(cat("reattached attempt ", attempt_, ", process ", kept_.child.pid));
  }
  settle_doubts(state, writer);
  return {};
}

/// What a midwatch before this one began and whose outcome it did not record: the journal and the keeper's record show
/// how far it came, and what is still due is decided anew.
void Supervisor::settle_doubts(const State& state, EventWriter& writer) {
  for (const ActionState& action : state.actions) {
    const std::string& word = action.intent.action;
    if (word == "pause" || word == "resume") paused_ = word == "pause" || !action.done;
  }
  for (const ActionState& action : in_doubt(state, Executor::kSupervisor)) {
    const std::string& word = action.intent.action;
    const bool done = word == "restart" ? action.intent.target == cat("attempt ", attempt_)
                      : word == "break" ? trip_.has_value()
                      : word == "stop"  ? stopping()
                      : word == "pause" ? state.supervision.pause
                                        : word == "resume" && !state.supervision.pause;
    writer.acted(
        {action.intent.id, done, done ? "begun; the next midwatch found it so" : "not done: midwatch ended before", 0});
  }
  for (const ActionState& action : in_doubt(state, Executor::kPerson)) {
    writer.acted({action.intent.id, false, std::string(action_kind(action.intent.action)->outcome), 0});
  }
}

/// As they were a moment ago, which is enough for whoever searches their files once an attempt is not young: then they
/// come one after the other.
std::vector<ProcessInfo> Supervisor::members() const {
  if (running() == 0) return {};
  const Duration age = doors_.clock.now() - kept_.started;
  if (age < kYoung) return tree_.family();
  const bool recent = !tree_.snapshot().empty() && since(members_at_) < kMembers;
  return recent ? tree_.snapshot() : tree_.family();
}

/// Now and then; what cannot be recorded is recorded with the next change.
void Supervisor::look_at_members(EventWriter& writer) {
  if (since(members_at_) < kMembers) return;
  members_at_ = doors_.clock.steady();
  if (!tree_.take_snapshot()) return;
  (void)writer.record(event::MembersSeen{attempt_, doors_.processes.boot(), members_text(tree_.unmarked())}).ok();
}

}  // namespace mw
