// What lies on this machine already when a run is to go on here: after a reboot its own newest checkpoints may be
// further than what had been shipped.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/event.h"
#include "platform/disk.h"

namespace mw {

struct LocalScope {
  std::string root;         ///< the folder of checkpoints, its links followed
  CheckpointLayout layout;  ///< how they are named there
  std::string home;         ///< as given: where runs that saved there may be recorded
  std::string place;        ///< the run's store; a run that ships elsewhere is another one
  int64_t after = kNoStep;  ///< only what is further: the store's newest whole one; kNoStep: all
  bool unproven = false;  ///< what that is was not proven whole either: its trainer saves in a way that proves nothing
  Time since;             ///< known: somebody led the store back to an earlier step, and what is older does not count
};

/// One there, of a step beyond `after`.
struct LocalCheckpoint {
  enum class How {
    kWhole,    ///< and its trainer may resume from it
    kBroken,   ///< its own files show it
    kUnproven  ///< neither; usable only where the run's checkpoints never prove more (LocalScope::unproven)
  };
  int64_t step = kNoStep;  ///< its number
  std::string path;
  How how = How::kUnproven;
  std::string why;    ///< of what is not gone on from, one clause
  bool own = false;   ///< a recorded run of this store saved it
  std::string other;  ///< the recorded run of another store that saved it; "": none is known
  bool named = true;  ///< false: the trainer's pointer names an earlier one that is there
  bool usable() const { return how != How::kBroken && why.empty() && other.empty() && named; }
};

/// Those beyond `after`, the newest first, down to the first usable one, and 64 at most. Reads structure, as
/// `checkpoint list` does, and what the journals of runs that saved there found: one that a watch found unsound, that
/// was saved since the onset of a trouble, or that its run went on without is not usable. kIo: the disk does not
/// answer.
Result<std::vector<LocalCheckpoint>> look_at_local(Disk& disk, const LocalScope& scope);

/// Moves broken ones out of the trainer's way, as before a restart: below kQuarantineFolder, with a manifest, for
/// `midwatch restore` of the run in `run_folder`. Links that led to them lead to `keep` then (kNoStep: they are moved,
/// too). Returns the folder that they are in now. kDenied: a process has one of them open; kInvalid: its name says no
/// step. The disk's own errors.
Result<std::string> move_broken(Disk& disk, const LocalScope& scope, const std::string& run_folder, Time now,
                                const std::vector<int64_t>& steps, int64_t keep, const std::string& why);

}  // namespace mw
