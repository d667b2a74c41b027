// Looks at a checkpoint on the disk: is it whole, as far as its files can prove? Weights are not read, only sampled;
// pickles are never run.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "core/event.h"
#include "platform/disk.h"

namespace mw {

/// What a look found. `seen.path` is the folder that was asked for.
struct CheckpointLook {
  bool there = false;  ///< the folder is there and could be listed; else nothing else is known
  event::CheckpointSeen seen;
  uint64_t state = 0;             ///< of names, sizes and times: the same number means that nothing changed in between
  std::set<std::string> weights;  ///< names of the files of weights within it, its own step as '#'
};

/// A checkpoint is broken when
///  - none of its files can hold weights (settings, tokenizers and states of loaders do not);
///  - a file of weights is empty, begins with nothing but zeros, is cut (safetensors: by its header; torch.save: by the
///    directory at its end), or holds NaN where it is sampled;
///  - files are missing that an index, or a .metadata of torch.distributed.checkpoint, names; or that .metadata itself;
///  - a mark says that it is not finished (transformers' checkpoint-is-incomplete.txt);
///  - it holds less than a tenth of what `before` holds, or `before` has all of its files of weights and more.
/// It is whole when no such thing is seen and at least one file of weights proved to be. `step`: its own, or kNoStep.
/// `before`: a whole one beside it, or nullptr.
CheckpointLook look_at_checkpoint(Disk& disk, const std::string& folder, int64_t step, const CheckpointLook* before);

}  // namespace mw
