// What of a run's own things on disk may go, and why: proven to be this run's, within declared folders, never the
// checkpoint that a restart would go on from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/checkpoint_layout.h"
#include "core/supervise/mode.h"
#include "platform/disk.h"
#include "platform/process.h"
#include "platform/remove_tree.h"
#include "platform/system.h"
#include "sense/checkpoints/ownership.h"

namespace mw {

struct CleanupSettings {
  Mode mode = Mode::kAsk;
  std::vector<std::string> what;  ///< words of cleanup.what, in the order in which things go
  std::string shared;             ///< the folder of shared memory
  int64_t keep_last = 0;          ///< checkpoints; 0: all are kept
  int64_t keep_every = 0;         ///< those whose step it divides are kept for ever; 0: none
};

/// The machine, for what lies outside of the run's folders. All of it may be asked from any thread.
struct CleanupDoors {
  System& system;
  Processes& processes;
  /// nobody_holds() of platform/remove_tree.h.
  std::function<bool(const std::string& root, const std::string& name, const Identity& only)> unheld;
  int64_t user = -1;  ///< whose things may go
};

/// What is looked at.
struct CleanupPlaces {
  std::string run_folder;          ///< midwatch's own, with the attempts' records
  std::string folder;              ///< in which the command works
  std::vector<std::string> roots;  ///< declared to hold the run's checkpoints
};
struct CleanupScope : CleanupPlaces {
  CheckpointLayout layout;
  Time now;            ///< when it is looked at
  Ownership own = {};  ///< by which whose a checkpoint is is told
};

struct CleanupItem {
  std::string what;        ///< the word of cleanup.what
  std::string root, name;  ///< name: below root
  int64_t bytes = 0;
  std::string why;  ///< one sentence
  Identity only;    ///< what was looked at
};

struct CleanupPlan {
  std::vector<CleanupItem> items;  ///< in the order in which they should go
  std::vector<CleanupItem> left;   ///< what looks like it, too, and stays; `why` says why
};

/// A core dump goes when it says itself that a process of this run's session left
/// it. A broken checkpoint and an old one go only where they are this run's own (sense/checkpoints/ownership.h) and a
/// newer one of its own in the same folder is proven whole; that one, and what the trainer's pointer names, stay
/// whatever the settings say. What was set aside goes only with the manifest that says that this run did it. Shared
/// memory and sessions of Ray's: stale_resources.h.
CleanupPlan plan_cleanup(Disk& disk, const CleanupDoors& doors, const CleanupScope& scope,
                         const CleanupSettings& settings);

/// Removes it, if it still is what was looked at and nobody has come to use it. Errors as of remove_tree().
Result<Removed> remove_item(System& system, const CleanupItem& item);

}  // namespace mw
