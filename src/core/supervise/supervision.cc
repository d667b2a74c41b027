#include "core/supervise/supervision.h"

#include <algorithm>

#include "base/text.h"
#include "core/bounded.h"

namespace mw {
namespace {

constexpr size_t kNameLimit = 200;      // bytes of a name, a digest, a boot id
constexpr size_t kFactsLimit = 65'536;  // bytes of what a decision rests on
constexpr size_t kPlanLimit =
    300'000;  // bytes of a plan; a longer one counts as none (a record of the journal holds 1 MiB)
constexpr size_t kMembersLimit = 65'536;  // bytes of the numbers of processes

/// The attempt of this number, made where it is new. nullptr for a number that is none, or older than all that are
/// kept.
SupervisedAttempt* attempt_of(Supervision& into, int64_t number) {
  if (number < 1) return nullptr;
  auto& all = into.attempts;
  const auto at = std::lower_bound(all.begin(), all.end(), number,
                                   [](const SupervisedAttempt& one, int64_t wanted) { return one.number < wanted; });
  if (at != all.end() && at->number == number) return &*at;
  if (at == all.begin() && all.size() >= Supervision::kAttemptLimit) return nullptr;
  const auto place = all.insert(at, SupervisedAttempt());
  place->number = number;
  if (all.size() > Supervision::kAttemptLimit) all.erase(all.begin());
  return attempt_of(into, number);
}

Approval* approval_of(SupervisedAttempt* attempt, const std::string& action) {
  if (attempt == nullptr) return nullptr;
  return action == "break" ? &attempt->breaking : action == "restart" ? &attempt->restarting : nullptr;
}

}  // namespace

const SupervisedAttempt* Supervision::attempt(int64_t number) const {
  const auto found = std::find_if(attempts.rbegin(), attempts.rend(),
                                  [number](const SupervisedAttempt& one) { return one.number == number; });
  return found == attempts.rend() ? nullptr : &*found;
}

void fold_supervision(Supervision& into, const Event& event, const event::WatchBegan& began) {
  make_room(into.watches, Supervision::kWatchLimit);
  into.watches.emplace_back(event.received,
                            event::WatchBegan{clip(began.build, kNameLimit), clip(began.knowledge, kNameLimit),
                                              clip(began.settings, kNameLimit)});
}

void fold_supervision(Supervision& into, const Event& event, const event::AttemptStarted& started) {
  SupervisedAttempt* attempt = attempt_of(into, started.attempt);
  if (attempt == nullptr) return;
  attempt->started = true;
  attempt->pid = started.pid;
  attempt->boot = clip(started.boot, kNameLimit);
  attempt->started_at = event.received;
  into.paused = false;
}

void fold_supervision(Supervision& into, const Event& event, const event::AttemptExited& exited) {
  SupervisedAttempt* attempt = attempt_of(into, exited.attempt);
  if (attempt == nullptr) return;
  attempt->exited = true;
  attempt->known = exited.known;
  attempt->code = exited.code;
  attempt->signal = exited.signal;
  attempt->failure = clip(exited.failure, kTextLimit);
  attempt->exited_at = event.at.known() ? std::min(event.at, event.received) : event.received;
  if (into.pause && into.pause_by == kByMidwatch) {  // there is nothing to approve any more
    into.pause = false;
    into.pause_by.clear();
  }
}

void fold_supervision(Supervision& into, const Event& event, const event::Requested& requested) {
  make_room(into.requests, Supervision::kRequestLimit);
  into.requests.push_back(
      {event.at, event.received, clip(requested.what, kNameLimit), clip(requested.who, kNameLimit)});
  into.stop = into.stop || requested.what == "stop" || requested.what == "kill";
  if (requested.what != "pause" && requested.what != "resume") return;
  into.pause = requested.what == "pause";
  into.pause_by = into.pause ? clip(requested.who, kNameLimit) : std::string();
}

void fold_supervision(Supervision& into, const Event& event, const event::Asked& asked) {
  Approval* approval = approval_of(attempt_of(into, asked.attempt), asked.action);
  if (approval != nullptr) *approval = {true, Approval::Answer::kNone, clip(asked.text, kTextLimit), event.received};
}

void fold_supervision(Supervision& into, const Event&, const event::Answered& answered) {
  Approval* approval = approval_of(attempt_of(into, answered.attempt), answered.action);
  if (approval == nullptr) return;
  const bool withdrawn = answered.answer == "withdrawn", watching = answered.answer == kOnlyWatching;
  approval->asked = approval->asked && !withdrawn && !watching;
  if (withdrawn) approval->text.clear();
  const bool may = answered.answer == "yes" || answered.answer == kUnanswered;
  approval->answer = withdrawn || watching ? Approval::Answer::kNone
                     : may                 ? Approval::Answer::kYes
                                           : Approval::Answer::kNo;
}

void fold_supervision(Supervision& into, const Event& event, const event::Decided& decided) {
  SupervisedAttempt* attempt = attempt_of(into, decided.attempt);
  if (attempt == nullptr) return;
  attempt->decided = true;
  attempt->restart = decided.restart;
  attempt->wait_s = decided.wait_s;
  attempt->why = clip(decided.why, kTextLimit);
  attempt->facts = clip(decided.facts, kFactsLimit);
  attempt->asks = decided.asks;
  attempt->plan = decided.plan.size() > kPlanLimit ? std::string() : decided.plan;
  attempt->decided_at = event.received;
}

void fold_supervision(Supervision& into, const Event&, const event::Tripped& tripped) {
  SupervisedAttempt* attempt = attempt_of(into, tripped.attempt);
  if (attempt == nullptr) return;
  attempt->trip = {tripped.attempt,
                   clip(tripped.kind, kNameLimit),
                   clip(tripped.cause, kNameLimit),
                   clip(tripped.reaction, kNameLimit),
                   clip(tripped.summary, kTextLimit),
                   tripped.step,
                   tripped.source,
                   tripped.line};
}

void fold_supervision(Supervision& into, const Event&, const event::MembersSeen& seen) {
  SupervisedAttempt* attempt = attempt_of(into, seen.attempt);
  if (attempt == nullptr || seen.processes.size() > kMembersLimit) return;
  attempt->members = {seen.attempt, clip(seen.boot, kNameLimit), seen.processes};
}

}  // namespace mw
