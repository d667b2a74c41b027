// Finds the files of a run: by content, not only by name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "platform/disk.h"

namespace mw {

struct FoundFile {
  std::string path;  ///< as it will be shown
  FileInfo info;
  bool named = false;              ///< a person gave this path itself, rather than a folder above it
  std::vector<std::string> older;  ///< rotated parts of the same log ("train.log.2", "train.log.1"), oldest first
};

struct Found {
  std::vector<FoundFile> files;    ///< in the order given, within a folder by name; output before its errors
  std::vector<std::string> notes;  ///< what was left out and why, in words
  /// Histories in older checkpoints ("checkpoint-80/trainer_state.json"): the newest one in the same folder holds them.
  std::vector<FoundFile> superseded;
  std::vector<std::string> notebooks;  ///< those in folders, where there were other files to read
};

/// Limits of a walk, so that a path like "/" ends soon.
constexpr int kWalkDepth = 12;            ///< folders below the one given
constexpr size_t kWalkEntries = 100'000;  ///< entries looked at in all
constexpr size_t kWalkFiles = 2'000;      ///< files taken in all

/// Expands `paths`; folders are walked and filtered by `worth_reading`. A path that does not exist or cannot be read is
/// an error only when nothing else is left; otherwise it is a note. `also_notebooks`: where folders hold no file that
/// is worth reading, their notebooks are taken.
Result<Found> discover(Disk& disk, const std::vector<std::string>& paths,
                       const std::function<bool(std::string_view path, int64_t size)>& worth_reading,
                       bool also_notebooks = false);

}  // namespace mw
