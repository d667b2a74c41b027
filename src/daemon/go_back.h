// Going back to a checkpoint from before the trouble, as the supervisor does it between two attempts.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/state.h"
#include "daemon/charge.h"
#include "platform/disk.h"

namespace mw {

/// The folders that hold checkpoints of that layout: those that the charge names and their subfolders, else those that
/// the run's files told of. Only folders in which there is one.
std::vector<std::string> checkpoint_roots(Disk& disk, const State& state, const CheckpointLayout& layout,
                                          const Charge& charge);

/// Sets aside, in each root, what was saved from `back.from` on; says in one sentence what was done. It may be done
/// again after it was cut short.
Result<std::string> go_back(Disk& disk, const CheckpointLayout& layout, const GoBack& back, int attempt);

}  // namespace mw
