// What a held run knows of whose checkpoints are: gathered from its folder, its settings and what its files told.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "checkpoints/ownership.h"
#include "core/checkpoint_layout.h"
#include "core/state.h"
#include "daemon/charge.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/system.h"

namespace mw {

/// In a run's folder: what lay there before its first attempt began, and who was seen to write since.
inline constexpr std::string_view kSnapshotFile = "checkpoints-before.json";
inline constexpr std::string_view kWritersFile = "checkpoint-writers.json";

/// Folders below which the run may save: those declared, the one it works in, those that are read beside.
std::vector<std::string> places_of(const Charge& charge);

/// Writes kSnapshotFile, as it lies there now. kIo when the disk does not answer.
Result<void> keep_snapshot(Disk& disk, Clock& clock, const Charge& charge, const std::string& run_folder,
                           const std::function<Result<void>(const std::string&, std::string_view)>& write);

/// Who was seen to have files open to write, by folder of checkpoints.
struct Writers {
  std::set<std::string> own, strangers;
};
std::string writers_text(const Writers& writers);
Writers parse_writers(std::string_view text);  ///< nothing of what is no such text

/// Who has files open to write just now in folders of checkpoints below `places`: processes with the run's mark in
/// their environment, or others. May take as long as a file system does not answer.
Writers writers_below(System& system, const std::vector<std::string>& places, const CheckpointLayout& layout,
                      const std::string& run_folder);
/// Adds them to kWritersFile, where there are new ones.
void note_writers(Disk& disk, const std::string& run_folder, const Writers& now);

/// kIo when the disk does not answer.
Result<Ownership> ownership_of(Disk& disk, const std::string& run_folder, const Charge& charge, const State& state,
                               const CheckpointLayout& layout);

}  // namespace mw
