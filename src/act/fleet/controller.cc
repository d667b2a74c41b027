#include "act/fleet/controller.h"

#include <algorithm>
#include <optional>

#include "act/fleet/beat.h"
#include "act/fleet/check.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

constexpr int kMostMoves = 16;  // within one check
constexpr int kIntervals = 2;   // between heartbeats, in which another one must come
constexpr int kLooks = 12;      // in that time

}  // namespace

using Phase = Control::Phase;
using What = Move::What;
using Swap = FleetStore::Swap;

Result<CheckResult> Check::act() {
  for (bool again = true; again;) {
    const auto seen = move_on();
    if (!seen.ok()) return seen.error();
    const auto gave_up = go_ahead(*seen);
    if (!gave_up.ok()) return gave_up.error();
    again = *gave_up;
  }
  out_.person = out_.person || person_;
  return std::move(out_);
}

Result<bool> Check::move_on() {
  bool seen_all = false;
  for (int moves = 0; moves < kMostMoves; ++moves) {
    MW_TRY(look_around());
    MW_TRY(end_strays());
    const Move move = next_move();
    finish(move);
    if (move.what != What::kFence) seen_twice_ = false;
    auto again = carry_out(move);
    if (!again.ok()) return again.error();
    seen_all = move.what == What::kNothing || move.what == What::kWait;
    if (!*again) break;
  }
  return seen_all;
}

Result<bool> Check::by_person(std::optional<Control> (*change)(Control)) {
  MW_TRY(read());
  auto to = change(control());
  return to ? won(std::move(*to)) : Result<bool>(false);
}

Result<Rental> Check::adopt(const std::string& provider, const std::string& instance) {
  MW_TRY(read());
  MW_TRY(take_time());
  if (control().current() != nullptr) {
    return Error{Error::Code::kDenied, "the run has a machine", "midwatch fleet stop gives it back."};
  }
  Control to = control();
  to.why = cat("a person gave it ", instance);
  Rental asked;
  asked.nonce = doors_.nonce();
  asked.provider = provider;
  asked.instance = instance;
  asked.asked = now_;
  const Rental rental = add_intent(to, std::move(asked));
  to.phase = Phase::kRented;
  const auto swapped = won(std::move(to));
  if (!swapped.ok()) return swapped.error();
  if (!*swapped) return Error{Error::Code::kIo, "somebody else changed the run meanwhile", "Try again."};
  MW_TRY(record("adopt", "a person gave it to the run", rental));
  return rental;
}

/// True: more may be due.
Result<bool> Check::carry_out(const Move& move) {
  switch (move.what) {
    case What::kNothing:
    case What::kWait:
      return false;
    case What::kFence:
      // What was seen may be old by now: a machine is given up on what is seen again.
      if (seen_twice_) return fence(move);
      if (move.by_silence || (move.by_age && !doors_.one_clock)) MW_TRY(await_heartbeat());
      return seen_twice_ = true;
    case What::kDestroy:
      return give_back();
    case What::kForget:
      return forget(move);
    case What::kTake:
      return note_rented(holding_, false);
    case What::kBegan:
      return began(move);
    case What::kRent:
      return rent(move.why);
  }
  return false;
}

/// When a store that was away is back, the last heartbeat of every machine is old; and where its times are by the
/// clocks of whoever wrote there, an old heartbeat may be one that came just now. A machine is not given up while it
/// changes.
Result<void> Check::await_heartbeat() {
  if (!doors_.pause || !out_.seen.beat) return {};
  const std::string nonce = control().current()->nonce;
  const Duration every = out_.seen.beat->every;
  for (int looks = 0; looks < kLooks; ++looks) {
    doors_.pause({every.ns * kIntervals / kLooks});
    const auto beat = doors_.store.heartbeat(nonce);
    if (!beat.ok()) return beat.error();
    if (!beat->beat || (beat->changed == out_.seen.beat_changed && beat->beat->at == out_.seen.beat->at)) continue;
    heard_now_ = nonce;
    break;
  }
  return {};
}

Result<bool> Check::began(const Move& move) {
  Control to = control();
  to.current()->began = now_;
  to.misses = 0;
  to.why = move.why;
  return won(std::move(to));
}

Result<bool> Check::won(Control to) {
  FleetStore::Held from = held_;
  if (fresh_) from.control.reset();
  const auto swapped = doors_.store.swap(from, std::move(to), plan_.owner);
  if (!swapped.ok()) return swapped.error();
  if (*swapped == Swap::kLost) return false;
  held_ = std::move(from);
  fresh_ = false;
  out_.control = control();
  return true;
}

Result<void> Check::record(std::string_view what, const std::string& why, const Rental& rental) {
  JournalEntry entry;
  entry.epoch = rental.epoch;
  entry.serial = control().serial;
  entry.owner = plan_.owner;
  entry.what = what;
  entry.why = why;
  entry.provider = rental.provider;
  entry.instance = rental.instance;
  entry.label = label_of(rental);
  entry.at = now_;
  return doors_.store.record(entry);
}

std::string Check::label_of(const Rental& rental) const {
  return label_text({plan_.spec.name, plan_.run_id, rental.epoch, rental.nonce});
}

Result<bool> Check::fence(const Move& move) {
  Control to = control();
  end_epoch(to, move.after);
  to.why = move.why;
  to.current()->failed = to.current()->failed || move.failed;
  to.current()->end = clip(move.why, 250);
  auto swapped = won(std::move(to));
  if (!swapped.ok() || !*swapped) return swapped;
  out_.done.push_back(cat("fenced off the machine of epoch ", control().current()->epoch, ": ", move.why));
  MW_TRY(record("fence", move.why, *control().current()));
  return true;
}

/// Of a fenced machine only: its epoch is below the one in force, for ever.
Result<bool> Check::give_back() {
  const Rental& rental = *control().current();
  MW_CHECK(rental.epoch < control().epoch);
  MW_TRY(record("give-back", control().why, rental));
  Instance instance;
  instance.id = holding_.instance;
  instance.host = holding_.host;
  instance.label = label_of(rental);
  const auto ended = provider_of(rental.provider)->destroy(instance);
  if (!ended.ok()) {
    out_.waits = cat(instance.id, " could not be given back: ", ended.error().what);
    return false;
  }
  out_.done.push_back(cat("gave back ", instance.id, " of ", rental.provider));
  MW_TRY(look_around());
  finish(next_move());
  return !holding_.there();  // else the provider still lists it, and the next check asks again
}

void Check::read_clock_again() {
  if (const auto now = doors_.store.now(plan_.owner); now.ok()) now_ = *now;
}

Result<bool> Check::forget(const Move& move) {
  Control to = control();
  const Rental gone = *to.current();
  read_clock_again();
  forget_current(to, now_, move.why, move.failed);
  auto swapped = won(std::move(to));
  if (!swapped.ok() || !*swapped) return swapped;
  MW_TRY(record("gone", move.why, gone));
  return true;
}

Result<CheckResult> check_run(const ControllerDoors& doors, const ControllerPlan& plan) {
  return Check(doors, plan).act();
}

Result<CheckResult> see_run(const ControllerDoors& doors, const ControllerPlan& plan) {
  return Check(doors, plan).see();
}

Result<bool> launch_run(const ControllerDoors& doors, const ControllerPlan& plan) {
  return Check(doors, plan).by_person(launched);
}

Result<bool> stop_run(const ControllerDoors& doors, const ControllerPlan& plan) {
  return Check(doors, plan).by_person(stopped);
}

Result<Rental> adopt_instance(const ControllerDoors& doors, const ControllerPlan& plan, const std::string& provider,
                              const std::string& instance) {
  return Check(doors, plan).adopt(provider, instance);
}

Result<std::vector<Orphan>> find_orphans(const ControllerDoors& doors, const ControllerPlan& plan,
                                         std::vector<std::string>& notes, bool& all_seen) {
  return Check(doors, plan).orphans(notes, all_seen);
}

std::map<std::string, std::string> machine_environment(const FleetSpec& spec, const Rental& rental,
                                                       const std::string& label) {
  std::map<std::string, std::string> out = {{kStoreVariable, spec.store},
                                            {kLabelVariable, label},
                                            {kEpochVariable, std::to_string(rental.epoch)},
                                            {kMachineVariable, rental.nonce}};
  if (!spec.endpoint.empty()) out[kEndpointVariable] = spec.endpoint;
  if (!spec.region.empty()) out[kRegionVariable] = spec.region;
  return out;
}

}  // namespace mw::fleet
