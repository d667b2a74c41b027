// Who has files open to write where checkpoints lie.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint_layout.h"
#include "platform/disk.h"
#include "platform/system.h"

namespace mw {

/// In a run's folder: who was seen to write since it began.
inline constexpr std::string_view kWritersFile = "checkpoint-writers.json";

/// Who was seen to have files open to write, by folder of checkpoints.
struct Writers {
  std::set<std::string> own, strangers;
  std::set<std::string> named = {};  ///< in which the run's own files say that it saves
};
std::string writers_text(const Writers& writers);
Writers parse_writers(std::string_view text);  ///< nothing of what is no such text

/// Who has files open to write just now in folders of checkpoints below `places`: processes with the run's marker in
/// their environment, or others. May take as long as a file system does not answer.
Writers writers_below(System& system, const std::vector<std::string>& places, const CheckpointLayout& layout,
                      const std::string& run_folder);
/// Checkpoints, named after a step of that layout, in which, or which, one of these processes has open to write just
/// now, by their real paths.
std::set<std::string> written_now(System& system, const std::vector<int64_t>& pids, const CheckpointLayout& layout);
/// Adds them to kWritersFile, where there are new ones: other runs read there where this one saves.
void note_writers(Disk& disk, const std::string& run_folder, const Writers& now);

}  // namespace mw
