// What lies on this machine already when a run is to go on here: after a reboot its own newest checkpoints may be
// further than what had been shipped.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "act/vault/manifest.h"
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
  Time since;  ///< known: when the store's newest was shipped by whom it is to go on from, and what is older does not
               ///< count
  /// All bytes of what would be gone on from are read first, by so many threads, unless that was done before; 0: not.
  int threads = 0;
  std::function<void(int64_t, int64_t)> progress = nullptr;  ///< bytes read, and in all
  /// What that found wrong, by path, for the next question about the same.
  std::shared_ptr<std::map<std::string, std::string>> wrong = std::make_shared<std::map<std::string, std::string>>();
  std::vector<std::pair<std::string, int64_t>> like = {};  ///< files of the store's newest, and their bytes
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
  std::string why;     ///< of what is not gone on from, one clause
  bool own = false;    ///< a recorded run of this store saved it
  std::string other;   ///< the recorded run of another store that saved it; "": none is known
  bool alien = false;  ///< its files are not those that the run has in the store, and no record proves it the run's
  std::vector<std::string> roles = {};  ///< what other roles have of that step, which a resume takes with it
  bool named = true;                    ///< false: the trainer's pointer names an earlier one that is there
  bool usable() const { return how != How::kBroken && why.empty() && other.empty() && named; }
};

/// Those beyond `after`, the newest first, down to the first usable one, and 64 at most. Reads structure, as
/// `checkpoint list` does, and what the journals of runs that saved there found: one that a watch found unsound, that
/// was saved since the onset of a trouble, or that its run went on without is not usable. kIo: the disk does not
/// answer.
Result<std::vector<LocalCheckpoint>> look_at_local(Disk& disk, const LocalScope& scope);

/// The one of that number, whatever `after` is; its `step` is kNoStep where it is not there.
Result<LocalCheckpoint> look_at_local_one(Disk& disk, const LocalScope& scope, int64_t number);

/// Compares what lies in `folder` with what was shipped under that name, all bytes of it. "": it is the same; else
/// what is not: "model.safetensors has other bytes". Files that were not shipped do not count. `progress` as of
/// LocalScope. The disk's own errors.
Result<std::string> unlike_shipped(Disk& disk, const std::string& folder, const vault::CheckpointManifest& shipped,
                                   const std::function<void(int64_t, int64_t)>& progress);

/// Moves broken ones out of the trainer's way, as before a restart: below kQuarantineFolder, with a manifest, for
/// `midwatch restore` of the run in `run_folder`. Links that led to them lead to `keep` then (kNoStep: they are moved,
/// too). Returns the folder that they are in now. kDenied: a process has one of them open; kInvalid: its name says no
/// step. The disk's own errors.
Result<std::string> move_broken(Disk& disk, const LocalScope& scope, const std::string& run_folder, Time now,
                                const std::vector<int64_t>& steps, int64_t keep, const std::string& why);

}  // namespace mw
