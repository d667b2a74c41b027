#include <algorithm>

#include "act/fleet/beat.h"
#include "act/fleet/check.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

using Phase = Control::Phase;
using What = Move::What;

constexpr int kMostMoves = 6;    // for the successor, within one check
constexpr int kRentsAtOnce = 3;  // offers that are tried within one check

/// Did the provider refuse, so that nothing was rented? Of all else nobody knows.
bool refused(const Error& error) {
  using Code = Error::Code;
  return error.code == Code::kDenied || error.code == Code::kInvalid || error.code == Code::kFull ||
         error.code == Code::kNotFound || error.code == Code::kUnsupported;
}

}  // namespace

/// What is due for the successor. Nothing of it stands in the way of the machine itself.
Result<bool> Check::go_ahead(bool seen) {
  if (plan_.spec.limits.ahead.ns <= 0 && control().successor() == nullptr) return false;
  for (int moves = 0; moves < kMostMoves; ++moves) {
    if (!seen || moves > 0) MW_TRY(look_around());
    const Move move = decide_ahead(plan_.spec, control(), out_.verdict, out_.seen, successor_, strays_);
    const bool gives_up = move.what == What::kFence && !move.ahead;
    if (!gives_up) seen_twice_ = false;
    const bool before = control().phase == Phase::kRented;
    auto again = gives_up ? carry_out(move) : carry_out_ahead(move);
    if (!again.ok()) return again.error();
    if (before && control().phase == Phase::kEnding) return true;
    if (!*again) return false;
  }
  return false;
}

Result<bool> Check::carry_out_ahead(const Move& move) {
  switch (move.what) {
    case What::kFence:
      return drop_successor(move);
    case What::kDestroy:
      return give_back_successor(move);
    case What::kForget:
      return forget_next(move);
    case What::kTake:
      return note_rented(successor_.holding, true);
    case What::kRent:
      return rent(move.why);
    case What::kWait:
      out_.notes.push_back(move.why);
      return false;
    default:
      return false;
  }
}

Result<bool> Check::drop_successor(const Move& move) {
  Control to = control();
  to.next = Phase::kEnding;
  Rental& rental = *to.successor();
  rental.failed = rental.failed || move.failed;
  rental.end = clip(move.why, 250);
  const Rental dropped = rental;
  auto swapped = won(std::move(to));
  if (!swapped.ok() || !*swapped) return swapped;
  out_.done.push_back(cat("the successor of epoch ", dropped.epoch, " is not needed: ", move.why));
  MW_TRY(record("fence", move.why, dropped));
  return true;
}

/// Of one that was given up only, which is for ever.
Result<bool> Check::give_back_successor(const Move& move) {
  MW_CHECK(control().next == Phase::kEnding);
  const Rental& rental = *control().successor();
  MW_TRY(record("give-back", move.why, rental));
  Instance instance;
  instance.id = successor_.holding.instance;
  instance.host = successor_.holding.host;
  instance.label = label_of(rental);
  const auto ended = provider_of(rental.provider)->destroy(instance);
  if (!ended.ok()) {
    out_.notes.push_back(cat(instance.id, " could not be given back: ", ended.error().what));
    return false;
  }
  out_.done.push_back(cat("gave back ", instance.id, " of ", rental.provider));
  MW_TRY(look_around());
  return !successor_.holding.there();  // else the provider still lists it, and the next check asks again
}

Result<bool> Check::forget_next(const Move& move) {
  Control to = control();
  Rental gone = *to.successor();
  read_clock_again();
  forget_successor(to, now_, move.why, move.failed);
  auto swapped = won(std::move(to));
  if (!swapped.ok() || !*swapped) return swapped;
  MW_TRY(record("gone", move.why, gone));
  return true;
}

Result<bool> Check::note_rented(const Holding& holding, bool ahead) {
  Control to = control();
  Rental& rental = ahead ? *to.successor() : *to.current();
  rental.instance = holding.instance;
  rental.there = std::max(now_, rental.asked);
  if (!holding.host.empty()) rental.host = holding.host;
  rental.price = std::max(rental.price, holding.price);
  (ahead ? to.next : to.phase) = Phase::kRented;
  const Rental taken = rental;
  auto swapped = won(std::move(to));
  if (!swapped.ok() || !*swapped) return swapped;
  out_.done.push_back(cat("took ", taken.instance, ", which had been asked for"));
  MW_TRY(record("rented", "the provider has it", taken));
  return true;
}

Result<bool> Check::rent(const std::string& why) {
  if (rents_ >= kRentsAtOnce) {
    out_.waits = "several offers were refused in a row; the next check goes on";
    return false;
  }
  ++rents_;
  bool wrong = false;  // what was asked for: that will not be had tomorrow either
  for (const auto& provider : doors_.providers) {
    auto offers = provider->search(plan_.spec.wants);
    if (!offers.ok()) {
      out_.notes.push_back(cat(provider->name(), " has no answer: ", said(offers.error())));
      wrong = wrong || offers.error().code == Error::Code::kInvalid;
      continue;
    }
    // What is left are hosts that failed twice: of one's own there will be no others.
    wrong = wrong || (!offers->empty() && std::all_of(offers->begin(), offers->end(), [this](const Offer& one) {
              return failed_twice(control(), one);
            }));
    std::vector<std::string> lacks;
    const auto good = ranked(plan_.spec, control(), now_, std::move(*offers), lacks);
    for (const std::string& one : lacks) out_.notes.push_back(cat(provider->name(), " has nothing to rent: ", one));
    if (!good.empty()) return rent_from(*provider, good.front(), why);
  }
  person_ = person_ || wrong;
  if (control().current() == nullptr) out_.waits = "no provider has a machine that may be rented";
  return false;
}

Result<bool> Check::rent_from(Provider& provider, const Offer& offer, const std::string& why) {
  const bool ahead = control().current() != nullptr;
  Control to = control();
  Rental asked;
  asked.nonce = doors_.nonce();
  asked.provider = provider.name();
  asked.host = offer.host;
  asked.price = offer.price;
  asked.asked = now_;
  const Rental rental = add_intent(to, std::move(asked));
  auto swapped = won(std::move(to));
  if (!swapped.ok() || !*swapped) return swapped;
  // From here on the intent is ours alone. It is carried out now or never: nobody calls create() for it again.
  MW_TRY(record("rent", ahead ? cat("ahead: ", why) : control().why, rental));
  Order order;
  order.label = label_of(rental);
  order.start = plan_.spec.start;
  order.environment = plan_.environment;
  for (const auto& [name, value] : machine_environment(plan_.spec, rental, order.label))
    order.environment[name] = value;
  order.wants = plan_.spec.wants;
  // Whoever slept since then may have been taken for dead. Late is never: somebody may give the intent up at any
  // moment.
  const auto now = doors_.store.now(plan_.owner);
  if (!now.ok()) return now.error();
  if (*now - rental.asked > plan_.spec.patience.settle) {
    out_.notes.emplace_back("an intent to rent was too old to be carried out");
    return false;
  }
  const auto still = doors_.store.control();
  if (!still.ok()) return still.error();
  const bool wanted = still->control && (may_train(*still->control, rental.epoch, rental.nonce) ||
                                         may_wait(*still->control, rental.epoch, rental.nonce));
  if (!wanted) return true;
  const auto made = provider.create(offer, order);
  if (!made.ok()) return not_made(made.error(), ahead);
  return was_made(provider, *made, rental);
}

Result<bool> Check::not_made(const Error& error, bool ahead) {
  out_.notes.push_back(cat("renting failed: ", said(error)));
  if (!refused(error)) {
    if (!ahead) out_.waits = "the provider must say whether it rented one out";
    return false;
  }
  const std::string why = cat("it was refused: ", clip(error.what, 200));
  const bool denied = error.code == Error::Code::kDenied;
  // That an offer is gone, or has no room, is no fault of its host's.
  const bool failed = error.code == Error::Code::kInvalid || error.code == Error::Code::kUnsupported;
  if (denied) rents_ = kRentsAtOnce;  // another offer would be refused as well
  Control to = control();
  const Rental gone = to.rentals.back();
  forget_refused(to, now_, why, failed);
  auto swapped = won(std::move(to));
  if (!swapped.ok() || !*swapped) return swapped;
  MW_TRY(record("gone", why, gone));
  return true;
}

Result<bool> Check::was_made(Provider& provider, const Instance& made, const Rental& rental) {
  const bool ahead = control().successor() != nullptr;
  const Holding there = {true, made.id, made.host, made.price, made.state, false};
  (ahead ? successor_.holding : holding_) = there;
  read_clock_again();  // the call may have lasted for minutes
  out_.done.push_back(cat("rented ", made.id, " of ", provider.name(), " for epoch ", rental.epoch));
  auto taken = note_rented(there, ahead);
  if (taken.ok() && *taken) {
    out_.done.pop_back();  // said once
    return true;
  }
  // Somebody else changed the books meanwhile. If they went on without it, it is not to live.
  MW_TRY(read());
  if (!may_train(control(), rental.epoch, rental.nonce) && !may_wait(control(), rental.epoch, rental.nonce)) {
    out_.done.push_back(cat("gave ", made.id, " back: the epoch had gone on"));
    MW_TRY(provider.destroy(made));
  }
  return true;
}

}  // namespace mw::fleet
