// One run on rented machines, as a person's command meets it: its store, and the providers of its specification.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "act/fleet/controller.h"
#include "act/fleet/wandb.h"
#include "api/fleet.h"
#include "app/harbour.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

class FleetDesk {
 public:
  /// By the file that describes it. kInvalid: that is wrong.
  static Result<std::unique_ptr<FleetDesk>> open(Disk& disk, const std::string& file);
  /// By what lies in the store: no provider is known, so it can only be seen. kNotFound: nobody rents machines for it.
  static Result<std::unique_ptr<FleetDesk>> open_stored(Disk& disk, const StoreAddress& store);

  Result<FleetAnswer> init();
  /// kInvalid: the specification is not the one that was put into the store. Asked before all that follows, so that no
  /// two controllers go by different limits.
  Result<void> know();
  Result<FleetAnswer> check(FleetRequest::What what);
  Result<FleetAnswer> offers();
  /// What launching would send to the first provider that has something to rent. Nothing is rented, and names stand in
  /// place of the values of the environment.
  Result<FleetAnswer> preview();
  Result<FleetAnswer> orphans();
  Result<FleetAnswer> adopt(const FleetRequest& request);

  fleet::FleetStore& books() { return *books_; }
  const std::string& prefix() const { return harbour_->prefix; }
  vault::VaultDoors vault() const { return harbour_->doors(disk_, address_); }

 private:
  FleetDesk(Disk& disk, fleet::FleetSpec spec, StoreAddress address, std::string digest);
  Result<void> reach();
  fleet::ControllerDoors doors() const;
  Result<fleet::WandbWord> ask_wandb(const std::string& run) const;
  /// `rents`: a variable that is named and not set is an error, before anything is rented.
  Result<fleet::ControllerPlan> plan_of(bool rents) const;
  Result<void> add_legs(FleetAnswer& answer);
  FleetAnswer answer_of(fleet::CheckResult result);

  Disk& disk_;
  fleet::FleetSpec spec_;
  const StoreAddress address_;
  std::string digest_;
  std::unique_ptr<Harbour> harbour_;
  std::unique_ptr<fleet::FleetStore> books_;
  std::vector<std::unique_ptr<fleet::Provider>> providers_;
  std::string owner_, id_;
};

}  // namespace mw
