// What of a run's own things on disk may go, and why: proven to be this run's, within declared folders, never the
// checkpoint that a restart would go on from.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint_layout.h"
#include "daemon/config.h"
#include "platform/disk.h"

namespace mw {

struct FreeSettings {
  enum class Mode { kWatch, kAsk, kAct };
  Mode mode = Mode::kAsk;
  std::vector<std::string> what;  ///< words of free-space.what, in the order in which things go
  int64_t keep_last = 0;          ///< checkpoints; 0: all are kept
  int64_t keep_every = 0;         ///< those whose step it divides are kept for ever; 0: none
};
FreeSettings free_settings(const Config& config);

/// What is looked at.
struct FreeScope {
  std::string run_folder;          ///< midwatch's own, with the attempts' records
  std::string folder;              ///< in which the command works
  std::vector<std::string> roots;  ///< declared to hold the run's checkpoints
  CheckpointLayout layout;
};

struct FreeItem {
  std::string what;        ///< the word of free-space.what
  std::string root, name;  ///< name: below root
  int64_t bytes = 0;
  std::string why;  ///< one sentence
};

/// In the order in which they should go. A core dump goes when it says itself that a process of this run's session left
/// it. A broken checkpoint, one set aside, and an old one go only where a newer one of the same folder is proven whole;
/// that one, and what the trainer's pointer names, stay whatever the settings say.
std::vector<FreeItem> plan_free(Disk& disk, const FreeScope& scope, const FreeSettings& settings);

}  // namespace mw
