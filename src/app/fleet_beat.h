// The run of a rented machine: it beats to its store, and ends when another machine goes on with it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "act/supervise/supervisor.h"
#include "act/vault/push.h"
#include "base/result.h"
#include "core/task.h"
#include "platform/disk.h"
#include "platform/doors.h"
#include "platform/object_store.h"

namespace mw {

/// Asked before the command of a run is started. kDenied: this machine was rented for the run, and another one goes on
/// with it; an error also when its store is not reached. From here on earlier machines cannot move `latest`. Of a
/// machine that nobody rented: nothing is asked.
Result<void> admit_machine(Disk& disk);

/// On a rented machine: it is not fit for its run, and is to be given back. kInvalid: nobody rented it.
Result<void> say_unfit(Disk& disk, const std::string& reason);

/// Bounds a push of a rented machine to its epoch. kDenied: that is over, and nothing may be shipped.
Result<void> bound_push(ObjectStore& store, const std::string& prefix, vault::PushOptions& options);

/// nullptr: nobody rented this machine. `taken_away`: by whose notice the run is ended, or "".
std::unique_ptr<Task> fleet_beat(const Doors& doors, Supervisor& supervisor,
                                 std::function<void(const std::string& sentence)> say,
                                 std::function<std::string()> taken_away);

}  // namespace mw
