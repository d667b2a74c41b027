#include "act/fleet/controller.h"

#include <algorithm>
#include <optional>
#include <set>

#include "act/fleet/beat.h"
#include "base/text.h"

namespace mw::fleet {
namespace {

using Phase = Control::Phase;
using What = Move::What;
using Swap = FleetStore::Swap;

constexpr int kMostMoves = 16;   // within one check
constexpr int kRentsAtOnce = 3;  // offers that are tried within one check

/// Did the provider refuse, so that nothing was rented? Of all else nobody knows.
bool refused(const Error& error) {
  using Code = Error::Code;
  return error.code == Code::kDenied || error.code == Code::kInvalid || error.code == Code::kFull ||
         error.code == Code::kNotFound || error.code == Code::kUnsupported;
}

class Check {
 public:
  Check(const ControllerDoors& doors, const ControllerPlan& plan) : doors_(doors), plan_(plan) {}

  Result<CheckResult> see() {
    MW_TRY(look_around());
    finish(next_move());
    return std::move(out_);
  }

  Result<CheckResult> act() {
    for (int moves = 0; moves < kMostMoves; ++moves) {
      MW_TRY(look_around());
      MW_TRY(end_strays());
      const Move move = next_move();
      finish(move);
      if (move.what != What::kFence) seen_twice_ = false;
      auto again = carry_out(move);
      if (!again.ok()) return again.error();
      if (!*again) break;
    }
    return std::move(out_);
  }

  Result<bool> by_person(std::optional<Control> (*change)(Control)) {
    MW_TRY(read());
    auto to = change(control());
    return to ? won(std::move(*to)) : Result<bool>(false);
  }

  Result<Rental> adopt(const std::string& provider, const std::string& instance) {
    MW_TRY(read());
    MW_TRY(take_time());
    if (control().current() != nullptr) {
      return Error{Error::Code::kDenied, "the run has a machine", "midwatch fleet stop gives it back."};
    }
    Control to = control();
    to.why = cat("a person gave it ", instance);
    to.phase = Phase::kRented;
    ++to.epoch;
    Rental rental;
    rental.epoch = to.epoch;
    rental.nonce = doors_.nonce();
    rental.provider = provider;
    rental.instance = instance;
    rental.asked = now_;
    to.rentals.push_back(rental);
    const auto swapped = won(std::move(to));
    if (!swapped.ok()) return swapped.error();
    if (!*swapped) return Error{Error::Code::kIo, "somebody else changed the run meanwhile", "Try again."};
    MW_TRY(record("adopt", "a person gave it to the run", rental));
    return rental;
  }

  Result<std::vector<Orphan>> orphans(std::vector<std::string>& notes) {
    MW_TRY(look_around());
    std::vector<Orphan> out;
    for (const auto& [provider, one] : all_) {
      const auto label = parse_label(one.label);
      if (!label || is_current(provider, one) || one.state == InstanceState::kGone) continue;
      out.push_back({one, provider, label->name, is_stray(*label)});
    }
    notes = out_.notes;
    return out;
  }

 private:
  const Control& control() const { return *held_.control; }

  Result<void> read() {
    auto held = doors_.store.control();
    if (!held.ok()) return held.error();
    held_ = std::move(*held);
    if (!held_.control) held_.control = Control{}, fresh_ = true;
    return {};
  }

  Result<void> take_time() {
    const auto now = doors_.store.now(plan_.owner);
    if (!now.ok()) return now.error();
    now_ = *now;
    return {};
  }

  /// Everything that is known now. The books are read first: what the providers list is never older than they.
  Result<void> look_around() {
    MW_TRY(read());
    MW_TRY(take_time());
    out_.notes.clear();
    all_.clear();
    unheard_.clear();
    for (const auto& provider : doors_.providers) {
      const auto listed = provider->list();
      if (!listed.ok()) {
        unheard_[provider->name()] = listed.error().what;
        out_.notes.push_back(cat(provider->name(), " was not heard: ", listed.error().what));
        continue;
      }
      for (const Instance& one : *listed) all_.emplace_back(provider->name(), one);
    }
    out_.seen = {};
    out_.seen.now = now_;
    holding_ = {};
    if (control().current() != nullptr) MW_TRY(see_current(*control().current()));
    out_.control = control();
    out_.verdict = judge(plan_.spec.patience, control(), out_.seen);
    return {};
  }

  Result<void> see_current(const Rental& rental) {
    auto beat = doors_.store.heartbeat(rental.nonce);
    if (!beat.ok()) return beat.error();
    if (!beat->trouble.empty()) out_.notes.push_back(cat("the heartbeat cannot be read: ", beat->trouble));
    out_.seen.beat = std::move(beat->beat);
    out_.seen.beat_changed = beat->changed;
    see_wandb();
    const auto unheard = unheard_.find(rental.provider);
    const bool known = std::any_of(doors_.providers.begin(), doors_.providers.end(),
                                   [&](const auto& one) { return one->name() == rental.provider; });
    if (doors_.providers.empty()) return {};  // only the store is at hand
    if (!known || unheard != unheard_.end()) {
      out_.seen.provider_says = known ? unheard->second : cat(rental.provider, " is not in the specification");
      return {};
    }
    holding_.heard = true;
    for (const auto& [provider, one] : all_) {
      const bool silent = one.unreachable && provider == rental.provider && one.host == rental.host;
      if (!silent && (!is_current(provider, one) || one.state == InstanceState::kGone)) continue;
      holding_ = {true, silent ? "" : one.id, one.host, one.price, one.state, silent};
      out_.seen.provider_says = one.says;
    }
    out_.seen.provider = holding_.there() || holding_.unreachable ? holding_.state : InstanceState::kGone;
    return {};
  }

  /// Once a check: what is looked at again is what ends machines, and W&B ends none.
  void see_wandb() {
    if (!doors_.wandb || !out_.seen.beat) return;
    if (!wandb_) wandb_ = doors_.wandb(out_.seen.beat->wandb);
    if (wandb_->ok()) {
      out_.seen.wandb = **wandb_;
    } else {
      out_.seen.wandb_silent = clip(wandb_->error().what, 200);
    }
  }

  /// By its label, or by its id where a person rented it.
  bool is_current(const std::string& provider, const Instance& one) const {
    const Rental* const rental = control().current();
    if (rental == nullptr || rental->provider != provider) return false;
    const auto label = parse_label(one.label);
    const bool labelled = label && label->id == plan_.run_id && label->name == plan_.spec.name &&
                          label->epoch == rental->epoch && label->nonce == rental->nonce;
    return labelled || (!rental->instance.empty() && one.id == rental->instance);
  }

  /// An instance of this run that may never train again: its epoch is over, and epochs only grow. So whoever sees that
  /// is right for ever, however old what it read is by now.
  bool is_stray(const Label& label) const {
    if (label.id != plan_.run_id || label.name != plan_.spec.name) return false;
    const Rental* const current = control().current();
    return label.epoch < control().epoch && (current == nullptr || label.nonce != current->nonce);
  }

  Provider* provider_of(const std::string& name) const {
    for (const auto& one : doors_.providers) {
      if (one->name() == name) return one.get();
    }
    return nullptr;
  }

  Result<void> end_strays() {
    strays_ = 0;
    for (const auto& [name, one] : all_) {
      const auto label = parse_label(one.label);
      if (!label || one.state == InstanceState::kGone || is_current(name, one) || !is_stray(*label)) continue;
      ++strays_;
      Rental rental;
      rental.epoch = label->epoch;
      rental.nonce = label->nonce;
      rental.provider = name;
      rental.instance = one.id;
      MW_TRY(record("give-back", "its epoch is over", rental));
      const auto ended = provider_of(name)->destroy(one);
      if (ended.ok()) {
        out_.done.push_back(cat("gave back ", one.id, " of ", name, ", whose epoch is over"));
      } else {
        out_.notes.push_back(cat(one.id, " of ", name, " could not be given back: ", ended.error().what));
      }
    }
    return {};
  }

  Move next_move() const { return decide(plan_.spec, control(), out_.verdict, out_.seen, holding_, strays_); }

  void finish(const Move& move) {
    out_.waits = move.what == What::kWait ? move.why : "";
    out_.person = move.person || (control().phase == Phase::kStopped && !control().outcome.empty() &&
                                  control().outcome != "finished" && control().outcome != "stopped");
  }

  /// True: more may be due.
  Result<bool> carry_out(const Move& move) {
    switch (move.what) {
      case What::kNothing:
      case What::kWait:
        return false;
      case What::kFence:
        // What was seen may be old by now: a machine is given up on what is seen again.
        if (!seen_twice_) return seen_twice_ = true;
        return fence(move);
      case What::kDestroy:
        return give_back();
      case What::kForget:
        return forget(move);
      case What::kTake:
        return take();
      case What::kBegan: {
        Control to = control();
        to.current()->began = now_;
        to.misses = 0;
        to.why = move.why;
        return won(std::move(to));
      }
      case What::kRent:
        return rent();
    }
    return false;
  }

  /// False: somebody else changed it meanwhile, and does what is due.
  Result<bool> won(Control to) {
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

  Result<void> record(std::string_view what, const std::string& why, const Rental& rental) {
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

  std::string label_of(const Rental& rental) const {
    return label_text({plan_.spec.name, plan_.run_id, rental.epoch, rental.nonce});
  }

  Result<bool> fence(const Move& move) {
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
  Result<bool> give_back() {
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

  Result<bool> forget(const Move& move) {
    Control to = control();
    Rental& rental = *to.current();
    const bool began = rental.began.known(), ending = to.phase == Phase::kEnding;
    rental.failed = rental.failed || move.failed;
    rental.gone = std::max(now_, rental.asked);
    if (rental.end.empty()) rental.end = move.why;
    if (!ending) ++to.epoch;  // should it come all the same, its epoch is over
    const bool again = !ending || to.after == "again";
    to.phase = again ? Phase::kIdle : Phase::kStopped;
    to.outcome = again ? "" : to.after;
    to.after = "";
    to.why = again ? rental.end : to.why;
    if (!began && again) ++to.misses, to.missed = now_;
    auto swapped = won(std::move(to));
    if (!swapped.ok() || !*swapped) return swapped;
    MW_TRY(record("gone", move.why, control().rentals.back()));
    return true;
  }

  Result<bool> take() {
    Control to = control();
    Rental& rental = *to.current();
    rental.instance = holding_.instance;
    if (!holding_.host.empty()) rental.host = holding_.host;
    rental.price = std::max(rental.price, holding_.price);
    to.phase = Phase::kRented;
    auto swapped = won(std::move(to));
    if (!swapped.ok() || !*swapped) return swapped;
    out_.done.push_back(cat("took ", holding_.instance, ", which had been asked for"));
    MW_TRY(record("rented", "the provider has it", *control().current()));
    return true;
  }

  Result<bool> rent() {
    if (rents_ >= kRentsAtOnce) {
      out_.waits = "several offers were refused in a row; the next check goes on";
      return false;
    }
    ++rents_;
    for (const auto& provider : doors_.providers) {
      auto offers = provider->search(plan_.spec.wants);
      if (!offers.ok()) {
        out_.notes.push_back(cat(provider->name(), " has no answer: ", offers.error().what));
        continue;
      }
      std::vector<std::string> why;
      const auto good = ranked(plan_.spec, control(), now_, std::move(*offers), why);
      for (const std::string& one : why) out_.notes.push_back(cat(provider->name(), " has nothing to rent: ", one));
      if (!good.empty()) return rent_from(*provider, good.front());
    }
    out_.waits = "no provider has a machine that may be rented";
    return false;
  }

  Result<bool> rent_from(Provider& provider, const Offer& offer) {
    Control to = control();
    Rental rental;
    rental.epoch = ++to.epoch;
    rental.nonce = doors_.nonce();
    rental.provider = provider.name();
    rental.host = offer.host;
    rental.price = offer.price;
    rental.asked = now_;
    to.phase = Phase::kRenting;
    to.rentals.push_back(rental);
    auto swapped = won(std::move(to));
    if (!swapped.ok() || !*swapped) return swapped;
    // From here on the intent is ours alone. It is carried out now or never: nobody calls create() for it again.
    MW_TRY(record("rent", control().why, rental));
    Order order;
    order.label = label_of(rental);
    order.start = plan_.spec.start;
    order.environment = plan_.environment;
    for (const auto& [name, value] : machine_environment(plan_.spec, rental, order.label))
      order.environment[name] = value;
    order.wants = plan_.spec.wants;
    // Whoever slept since then may have been taken for dead.
    const auto still = doors_.store.control();
    if (!still.ok()) return still.error();
    if (!still->control || !may_train(*still->control, rental.epoch, rental.nonce)) return true;
    const auto made = provider.create(offer, order);
    if (!made.ok()) return not_made(made.error());
    return was_made(provider, *made);
  }

  Result<bool> not_made(const Error& error) {
    out_.notes.push_back(cat("renting failed: ", error.what));
    if (!refused(error)) {
      out_.waits = "the provider must say whether it rented one out";
      return false;
    }
    Move move;
    move.what = What::kForget;
    move.why = cat("it was refused: ", clip(error.what, 200));
    move.failed = error.code != Error::Code::kFull;  // that is no fault of the host's
    return forget(move);
  }

  Result<bool> was_made(Provider& provider, const Instance& made) {
    holding_ = {true, made.id, made.host, made.price, made.state, false};
    out_.done.push_back(cat("rented ", made.id, " of ", provider.name(), " for epoch ", control().epoch));
    const int64_t epoch = control().epoch;
    auto taken = take();
    if (taken.ok() && *taken) {
      out_.done.pop_back();  // said once
      return true;
    }
    // Somebody else changed the books meanwhile. If they went on without it, it is not to live.
    MW_TRY(read());
    if (control().epoch > epoch) {
      out_.done.push_back(cat("gave ", made.id, " back: the epoch had gone on"));
      MW_TRY(provider.destroy(made));
    }
    return true;
  }

  const ControllerDoors& doors_;
  const ControllerPlan& plan_;
  FleetStore::Held held_;
  bool fresh_ = false;  ///< there is no epoch.json yet
  Time now_;
  std::vector<std::pair<std::string, Instance>> all_;  ///< by the provider's name
  std::map<std::string, std::string> unheard_;         ///< providers that were not heard, and why
  Holding holding_;
  std::optional<Result<WandbWord>> wandb_;
  size_t strays_ = 0;
  int rents_ = 0;
  bool seen_twice_ = false;  ///< that the machine is to be given up
  CheckResult out_;
};

}  // namespace

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
                                         std::vector<std::string>& notes) {
  return Check(doors, plan).orphans(notes);
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
