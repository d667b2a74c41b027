// One check of a run by a controller: what all witnesses say, and what is done about it. Several controllers may check
// at once, sleep in the middle and crash anywhere: what is done rests on fleet/epoch.json alone, which every one of
// them changes by compare-and-swap before it acts. docs/decisions/0018 has the argument.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "act/fleet/fleet_store.h"
#include "act/fleet/provider.h"
#include "core/fleet/decide.h"

namespace mw::fleet {

struct ControllerDoors {
  FleetStore& store;
  const std::vector<std::unique_ptr<Provider>>& providers;  ///< in the order in which they are tried
  std::function<std::string()> nonce;                       ///< 16 hexadecimal digits that nobody else gets
  /// Asks W&B for a run by the id that its heartbeat states ("": none); unset: it is not asked.
  std::function<Result<WandbWord>(const std::string& run)> wandb = nullptr;
  /// Waits. No machine is given up for silence before two intervals have passed without another heartbeat: it is the
  /// store that may have been away. Unset: nobody waits.
  std::function<void(Duration)> pause = nullptr;
  /// The store's times are by one clock. Where they are those of whoever wrote there, the age of a heartbeat alone
  /// gives no machine up, whatever its provider says.
  bool one_clock = true;
  /// This machine's clock, for whoever only looks and may not write to the store, whose clock is not to be had then.
  /// Nothing is done by it. Unset: there is none.
  std::function<Time()> own_clock = nullptr;
};

struct ControllerPlan {
  const FleetSpec& spec;
  std::string run_id;                              ///< of run.json
  std::map<std::string, std::string> environment;  ///< that a machine gets besides what it needs to beat; secrets too
  std::string owner;                               ///< of this process; nobody else has it
};

struct CheckResult {
  Control control;
  Verdict verdict;
  Witnesses seen;
  std::vector<std::string> done;   ///< what it did, in order
  std::string waits;               ///< what the run waits for; "": nothing
  bool person = false;             ///< somebody must look at it
  std::vector<std::string> notes;  ///< what was in the way: providers that were not heard, offers that do not do
  bool all_seen = true;            ///< false: a provider was not heard, or could not list all that is rented
};

/// Checks once, and does what is due, to the end of it: a machine that is lost is fenced off, given back and replaced
/// within one check where the provider is quick. Error: the store was not reached, or what lies there is damaged; what
/// was begun, the next check goes on with.
Result<CheckResult> check_run(const ControllerDoors& doors, const ControllerPlan& plan);

/// The same without doing anything.
Result<CheckResult> see_run(const ControllerDoors& doors, const ControllerPlan& plan);

/// A person wants a machine for the run. False: it has one, or is getting one.
Result<bool> launch_run(const ControllerDoors& doors, const ControllerPlan& plan);
/// A person wants the run's machine given back, and none taken. False: there is none.
Result<bool> stop_run(const ControllerDoors& doors, const ControllerPlan& plan);
/// The run's machine is this instance from now on, which a person rented. The result is its identity, which the
/// machine's midwatch must be given. kDenied: the run has a machine.
Result<Rental> adopt_instance(const ControllerDoors& doors, const ControllerPlan& plan, const std::string& provider,
                              const std::string& instance);

struct Orphan {
  Instance instance;
  std::string provider, run;  ///< the run's name, by its label
  bool ours = false;          ///< of this very run, with an older epoch: a check gives it back
};
/// Instances with a label of midwatch's that belong to no run, as far as this run can know: those of this run that are
/// not its machine, and all of other runs. `notes` gets what providers could not see or say; `all_seen` is false where
/// one was not heard, or could not list all.
Result<std::vector<Orphan>> find_orphans(const ControllerDoors& doors, const ControllerPlan& plan,
                                         std::vector<std::string>& notes, bool& all_seen);

/// The variables by which a machine's midwatch knows who it is.
std::map<std::string, std::string> machine_environment(const FleetSpec& spec, const Rental& rental,
                                                       const std::string& label);

}  // namespace mw::fleet
