// Which of a run's own files may be deleted, and why: only what is proven to be this run's, within declared folders,
// and never the checkpoint that a restart would resume from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint_layout.h"
#include "core/retention.h"
#include "core/supervise/mode.h"
#include "platform/disk.h"
#include "platform/process.h"
#include "platform/remove_tree.h"
#include "platform/system.h"
#include "sense/checkpoints/ownership.h"

namespace mw {

struct CleanupSettings {
  Mode mode = Mode::kAsk;
  std::vector<std::string> what;  ///< words of cleanup.what, in the order of deletion
  std::string shared;             ///< the folder of shared memory
  int64_t keep_last = 0;          ///< checkpoints; 0: all are kept
  int64_t keep_every = 0;         ///< those whose step it divides are kept for ever; 0: none
  std::string keep_best = {};     ///< a signal; "": none. The three as RetentionRules has them
  double disk_share = 1;          ///< of a checkpoints' disk that may be used before what may go goes; 1: all
  bool explain = false;           ///< of old checkpoints, also those that stay are listed, with why
};

/// Puts rules in place of those of the settings, where there are some.
inline void use_rules(const std::optional<RetentionRules>& rules, CleanupSettings& settings) {
  if (!rules) return;
  settings.keep_last = rules->keep_last;
  settings.keep_every = rules->keep_every;
  settings.keep_best = rules->keep_best;
}

/// Access to the machine outside of the run's folders. Safe to use from any thread.
struct CleanupDoors {
  System& system;
  Processes& processes;
  /// nobody_holds() of platform/remove_tree.h.
  std::function<bool(const std::string& root, const std::string& name, const Identity& only)> unheld;
  int64_t user = -1;  ///< only files of this user may be deleted
};

/// Where to search for what may be deleted.
struct CleanupPlaces {
  std::string run_folder;          ///< midwatch's own, with the attempts' records
  std::string folder;              ///< the command's working directory
  std::vector<std::string> roots;  ///< declared to hold the run's checkpoints
};
/// For whom a plan is made. What midwatch does by itself leaves what was quarantined alone for a while
/// (quarantine_wait.h).
enum class CleanupFor { kPerson, kSpace, kShare };
struct CleanupScope : CleanupPlaces {
  CheckpointLayout layout;
  Time now;            ///< time of the plan
  Ownership own = {};  ///< decides whose a checkpoint is
  RetentionFacts facts = {};
  /// Steps that the store has, whole, as it says now. Asked where a checkpoint would go by `facts`, which are what it
  /// had when they were shipped. Unset: it is not asked.
  std::function<Result<StoreSteps>()> in_store = nullptr;
  /// Paths of what this run's midwatch meant to delete at some time, by its journal.
  std::set<std::string> removals = {};
  CleanupFor asks = CleanupFor::kPerson;
};

/// What a decision to delete a checkpoint rests on; all of it is checked again right before.
struct CleanupGrounds {
  struct Counted {
    std::string path;
    int64_t step = kNoStep;
    uint64_t state = 0;  ///< CheckpointScan::state
  };
  std::vector<Counted> counted;  ///< whole ones that stay, for which it may go
  CheckpointLayout layout = {};
  std::vector<std::string> roots = {};  ///< trees that belong together: what holds one of that number holds all
  int64_t number = kNoStep;             ///< of what goes; kNoStep: it is no checkpoint, and the rest says nothing
  uint64_t state = 0;                   ///< likewise
};

struct CleanupItem {
  std::string what;        ///< the word of cleanup.what
  std::string root, name;  ///< name: below root
  int64_t bytes = 0;
  std::string why;  ///< one sentence
  Identity only;    ///< of the file that was checked
  std::optional<CleanupGrounds> grounds = std::nullopt;
  bool advised = false;     ///< of CleanupPlan::left: it stays to be resumed from, whatever the rules say
  bool unfinished = false;  ///< an earlier midwatch was killed, or met an error, while it deleted it
  std::string before = {};  ///< of an unfinished one: its path before
  bool beside = false;  ///< the trainer takes any folder in `root` for a checkpoint: it goes by way of one beside it
};

struct CleanupPlan {
  std::vector<CleanupItem> items;  ///< to delete, in this order
  std::vector<CleanupItem> left;   ///< similar files that stay; `why` says why
  std::vector<std::string> notes;  ///< one sentence each
  bool waits = false;              ///< checkpoints stay that may go once more is known of the run's steps or figures
  bool unsure = false;             ///< the disk did not say what an earlier one left in the middle
  bool above_share = false;        ///< a disk is fuller than CleanupSettings::disk_share; only by disk_share.h
};

/// A file is identified by its content's change time, too; a folder by device and inode only.
inline Identity identity_of(const FileInfo& info) {
  const bool file = info.kind == FileInfo::Kind::kFile;
  return {info.device, info.inode, file ? info.changed.ns : 0, false};
}

/// Words of cleanup.what. The last is no such word: it stands for what an earlier midwatch of the run left in the
/// middle, which also comes first in a plan of checkpoints.
inline constexpr std::string_view kOldCheckpoints = "old-checkpoints", kBrokenCheckpoints = "broken-checkpoints",
                                  kQuarantine = "quarantine", kUnfinished = "unfinished-removals";

/// Old checkpoints are chosen by core/retention.h. A core dump is deleted when its header names a session of this run.
/// A broken or old checkpoint is deleted only where it is this run's own (sense/checkpoints/ownership.h) and a newer
/// one of its own in the same folder is proven whole; that one, and the one that the trainer's pointer names, stay
/// whatever the settings say, and so do the one that a resume should begin from and the last ones that nothing speaks
/// against. One that was changed after that newer one was whole is perhaps being written or deleted
/// just now, and stays until it has been still for a while. One into which a person put a file (persons_file.h) stays
/// in all trees. Where the disk does not answer no checkpoint goes.
/// Quarantined checkpoints are deleted only with a manifest that names this run, and unless a person asks not at once.
/// Shared memory and Ray sessions: stale_resources.h.
CleanupPlan plan_cleanup(Disk& disk, const CleanupDoors& doors, const CleanupScope& scope,
                         const CleanupSettings& settings);

}  // namespace mw
