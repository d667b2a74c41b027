// Which folders of checkpoints an earlier training of the same command left, as the run's events and the disk show it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "core/state.h"
#include "platform/disk.h"

namespace mw {

/// Takes out of `roots` those that an earlier training left: by core/trainings.h, or as nothing was written there since
/// the one that goes on was seen to count its steps, and something was in another of them. A log may name no folder,
/// and a short training may be over before what it saved is looked at. kIo when the disk does not answer.
Result<void> drop_earlier_roots(Disk& disk, const State& state, const CheckpointLayout& layout,
                                std::vector<std::string>& roots);

}  // namespace mw
