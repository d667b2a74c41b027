// The run of a store over all its machines: what is asked, and what is answered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/fleet.h"
#include "api/requests.h"

namespace mw {

struct RunHistory {
  FleetAnswer fleet;  ///< as the store has it, no provider asked; `managed` is false where nobody rents machines for it
  /// The record that midwatch made on one machine, as it was shipped.
  struct Record {
    std::string name;                    ///< of the run there
    std::unique_ptr<Replayed> replayed;  ///< nullptr: it could not be read, for `trouble`
    std::string trouble;
    size_t leg = SIZE_MAX;  ///< of fleet.legs; SIZE_MAX: it belongs to none that is known
  };
  std::vector<Record> records;  ///< the oldest first
  /// What controllers intended and did.
  struct Action {
    Time at;  ///< by the store's clock
    int64_t epoch = 0;
    std::string what, why, provider, instance;
  };
  std::vector<Action> actions;     ///< the oldest first; the last 1,000
  std::string wandb;               ///< the W&B run, by the newest checkpoint; "": none is known
  std::vector<std::string> notes;  ///< what was in the way
};

}  // namespace mw
