// Checkpoints of the practice run: all that a resumed run needs to go on to the very same weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace practice {

struct Checkpoint {
  int64_t step = 0;
  int64_t adam_steps = 0;
  std::vector<double> weights, first, second;  ///< of the policy; Adam's moments
};

/// Where and under which names a framework keeps its checkpoints.
struct CheckpointFolder {
  std::string path;            ///< "": none are kept
  std::string prefix;          ///< of a checkpoint's folder, before its step
  std::string pointer;         ///< file that names the newest; "": the highest step is the newest
  std::string pointer_prefix;  ///< in that file, before the step
};
CheckpointFolder checkpoint_folder(std::string_view speak, const std::string& path);

/// <path>/<prefix>40
std::string checkpoint_place(const CheckpointFolder& folder, int64_t step);

/// Writes trainer.safetensors (three F64 tensors, counters as metadata) beside its name and renames it there, then the
/// pointer. 0, or the errno with which the disk refused; a partial folder may stay then, the pointer does not name it.
int save_checkpoint(const CheckpointFolder& folder, const Checkpoint& checkpoint);

/// A save that goes wrong without a word: the small files and the pointer are written, the tensors are not.
int save_metadata(const CheckpointFolder& folder, const Checkpoint& checkpoint);

/// Removes a checkpoint that is not kept any longer; one that is not there is no matter.
void remove_checkpoint(const CheckpointFolder& folder, int64_t step);

/// That of `wanted`, else the newest; nullopt when there is none. A broken one is an error, stated in `problem`.
std::optional<Checkpoint> load_checkpoint(const CheckpointFolder& folder, std::optional<int64_t> wanted,
                                          std::string* problem);

}  // namespace practice
