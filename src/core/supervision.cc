#include "core/supervision.h"

#include <algorithm>

#include "base/text.h"
#include "core/bounded.h"

namespace mw {
namespace {

constexpr size_t kNameLimit = 200;     // bytes of a name, a digest, a boot id
constexpr size_t kFactsLimit = 8'000;  // bytes of what a decision rests on

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
  attempt->exited_at = event.received;
}

void fold_supervision(Supervision& into, const Event& event, const event::Requested& requested) {
  make_room(into.requests, Supervision::kRequestLimit);
  into.requests.push_back(
      {event.at, event.received, clip(requested.what, kNameLimit), clip(requested.who, kNameLimit)});
  into.stop = into.stop || requested.what == "stop" || requested.what == "kill";
}

void fold_supervision(Supervision& into, const Event&, const event::Asked& asked) {
  Approval* approval = approval_of(attempt_of(into, asked.attempt), asked.action);
  if (approval != nullptr) *approval = {true, Approval::Answer::kNone};
}

void fold_supervision(Supervision& into, const Event&, const event::Answered& answered) {
  Approval* approval = approval_of(attempt_of(into, answered.attempt), answered.action);
  if (approval == nullptr) return;
  const bool withdrawn = answered.answer == "withdrawn";
  approval->asked = approval->asked && !withdrawn;
  approval->answer = withdrawn                  ? Approval::Answer::kNone
                     : answered.answer == "yes" ? Approval::Answer::kYes
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
  attempt->decided_at = event.received;
}

}  // namespace mw
