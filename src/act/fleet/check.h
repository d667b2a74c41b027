// One check of a controller: what it has seen, and the moves by which it carries out what core/fleet/decide.h wants.
// Inside of the room: controller.h is the door.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "act/fleet/controller.h"

namespace mw::fleet {

class Check {
 public:
  Check(const ControllerDoors& doors, const ControllerPlan& plan) : doors_(doors), plan_(plan) {}

  Result<CheckResult> see();
  Result<CheckResult> act();
  Result<bool> by_person(std::optional<Control> (*change)(Control));
  Result<Rental> adopt(const std::string& provider, const std::string& instance);
  Result<std::vector<Orphan>> orphans(std::vector<std::string>& notes, bool& all_seen);

 private:
  using Found = std::vector<std::pair<std::string, Instance>>;  ///< by the provider's name

  /// What a provider answered, with what to do about it.
  std::string said(const Error& error);

  // ---- seeing (check_see.cc)
  const Control& control() const { return *held_.control; }
  Result<void> read();
  /// By the store's clock; of who only looks by this machine's, where the store may not be written.
  Result<void> take_time();
  /// Everything that is known now. The books are read first: what the providers list is never older than they.
  Result<void> look_around();
  Result<void> see_current(const Rental& rental);
  Result<void> see_successor(const Rental& rental);
  void see_wandb();
  /// What its provider has of a rental. `says`: the provider's own word, or why it was not heard.
  Holding holding_of(const Rental& rental, std::string& says) const;
  bool is_of(const Rental* rental, const std::string& provider, const Instance& one) const;
  bool is_known(const std::string& provider, const Instance& one) const;
  /// An instance of this run that may never train again.
  bool is_stray(const Label& label) const;
  Provider* provider_of(const std::string& name) const;
  Result<void> end_strays();
  Move next_move() const { return decide(plan_.spec, control(), out_.verdict, out_.seen, holding_, strays_); }
  void finish(const Move& move);

  // ---- acting (controller.cc); true: more may be due
  /// All that is due for the machine itself. True: nothing was changed since everything was looked at.
  Result<bool> move_on();
  Result<bool> carry_out(const Move& move);
  /// False: somebody else changed it meanwhile, and does what is due.
  Result<bool> won(Control to);
  Result<void> record(std::string_view what, const std::string& why, const Rental& rental);
  std::string label_of(const Rental& rental) const;
  Result<bool> fence(const Move& move);
  Result<bool> give_back();
  /// A provider's call, or the machine that this runs on, may have slept: what is paid for counts until the machine is
  /// known to be gone, not until the check began.
  void read_clock_again();
  Result<bool> forget(const Move& move);
  Result<bool> began(const Move& move);
  Result<void> await_heartbeat();

  // ---- renting, the machine and its successor (check_rent.cc)
  /// `seen`: nothing has changed since everything was looked at. True: the machine itself was given up.
  Result<bool> go_ahead(bool seen);
  Result<bool> carry_out_ahead(const Move& move);
  Result<bool> drop_successor(const Move& move);
  Result<bool> give_back_successor(const Move& move);
  Result<bool> forget_next(const Move& move);
  Result<bool> rent(const std::string& why);
  Result<bool> rent_from(Provider& provider, const Offer& offer, const std::string& why);
  Result<bool> not_made(const Error& error, bool ahead);
  Result<bool> was_made(Provider& provider, const Instance& made, const Rental& rental);
  /// What was asked for is there.
  Result<bool> note_rented(const Holding& holding, bool ahead);

  const ControllerDoors& doors_;
  const ControllerPlan& plan_;
  bool only_looks_ = false, by_own_clock_ = false;
  FleetStore::Held held_;
  bool fresh_ = false;  ///< there is no epoch.json yet
  Time now_;
  Found all_;
  std::map<std::string, std::string> unheard_;  ///< providers that were not heard, and why
  std::map<std::string, std::string> in_part_;  ///< providers whose list is not all, and what they say of it
  Holding holding_;
  Successor successor_;
  std::optional<Result<WandbWord>> wandb_;
  size_t strays_ = 0;
  int rents_ = 0;
  bool person_ = false;  ///< a provider refuses what only a person can mend: its key, its account, the specification
  bool seen_twice_ = false;  ///< that the machine is to be given up
  std::string heard_now_;  ///< the nonce of a machine whose heartbeat changed during this check, whatever its time says
  CheckResult out_;
};

}  // namespace mw::fleet
