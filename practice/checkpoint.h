// Checkpoints of the practice run: all that a resumed run needs to go on to the very same weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace practice {

struct Checkpoint {
  int64_t step = 0;
  int64_t adam_steps = 0;
  std::vector<double> weights, first, second;  ///< of the policy; Adam's moments
};

/// "global_step_40" in `folder`.
std::string checkpoint_place(const std::string& folder, int64_t step);

/// Writes <folder>/global_step_N/trainer.safetensors (three F64 tensors, counters as metadata) beside its name and
/// renames it there, then latest_checkpointed_iteration.txt, as verl keeps its pointer. 0, or the errno with which the
/// disk refused; a partial folder may stay then, the pointer does not name it.
int save_checkpoint(const std::string& folder, const Checkpoint& checkpoint);

/// A save that goes wrong without a word: the small files and the pointer are written, the tensors are not.
int save_metadata(const std::string& folder, const Checkpoint& checkpoint);

/// Removes a checkpoint that is not kept any longer; one that is not there is no matter.
void remove_checkpoint(const std::string& folder, int64_t step);

/// The one that the pointer names; nullopt when there is none. A broken one is an error told in `problem`.
std::optional<Checkpoint> load_checkpoint(const std::string& folder, std::string* problem);

}  // namespace practice
