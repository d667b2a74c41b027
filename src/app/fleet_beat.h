// The run of a rented machine: it beats to its store, and ends when another machine goes on with it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "act/supervise/supervisor.h"
#include "act/vault/push.h"
#include "app/early_end.h"
#include "base/result.h"
#include "core/task.h"
#include "platform/disk.h"
#include "platform/doors.h"
#include "platform/object_store.h"

namespace mw {

/// Asked before the command of a run is started. kDenied: this machine was rented for the run, and another one goes on
/// with it; an error also when its store is not reached. From here on earlier machines cannot move `latest`. Of a
/// machine that nobody rented: nothing is asked.
/// `receiving`: time that it took to receive the checkpoint that it begins from.
Result<void> admit_machine(Disk& disk, Duration receiving);

/// Returns when this machine's turn has come: one that was rented as a successor waits until the machine before it is
/// gone, and receives nothing before, as newer checkpoints may still come. It beats meanwhile, by `send`. kDenied: it
/// is not needed any more. At once, of a machine that nobody rented, or whose store is not reached: admit_machine()
/// asks again.
Result<void> await_turn(Disk& disk, const EarlyEnd::Send& send);

/// On a rented machine: it is not fit for its run, and is to be given back. Nothing is said of one whose run has said
/// its own end, and one that is taken away says that once more. The result is what was said, in words; kInvalid: nobody
/// rented it.
Result<std::string> say_unfit(Disk& disk, const std::string& reason);

/// Bounds a push of a rented machine to its epoch. kDenied: that is over, and nothing may be shipped.
Result<void> bound_push(ObjectStore& store, const std::string& prefix, vault::PushOptions& options);

/// Until when the last heartbeat is tried, by the clock that only goes forward. `preempted`: when the machine heard
/// that it is taken away, if it did: its grace is all the time that there is for the end of the run.
Duration last_beat_until(Duration now, std::optional<Duration> preempted, Duration grace);

struct FleetBeatScope {
  std::function<void(const std::string& sentence)> say;
  std::string run;                                            ///< name of the run's record
  Duration receiving;                                         ///< as of admit_machine()
  std::function<std::string()> taken_away;                    ///< by whose notice the run is ended, or ""
  std::function<std::optional<Duration>()> leaves = nullptr;  ///< notice was given: until the machine is taken away
};
/// nullptr: nobody rented this machine.
std::unique_ptr<Task> fleet_beat(const Doors& doors, Supervisor& supervisor, FleetBeatScope scope);

}  // namespace mw
