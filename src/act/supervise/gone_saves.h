// Saves of a run that do not lie on the disk any more: its trainer keeps the last few, or somebody deleted them.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint_layout.h"
#include "core/event.h"
#include "core/state.h"
#include "platform/disk.h"

namespace mw {

/// Of what the run's log says that it saved, or was found on the disk, what is not there now, the newest steps first
/// (at most 256), so that nobody is sent to one: down to the first that is there, is not known to be broken and was not
/// saved since the onset of what spoils the weights: that is what one is sent to. Only where the folder in which it lay
/// can still be listed; what is known to be gone is left out. `folder`: from which on the log's paths are; `roots`: in
/// which the run saves, of what the log names without a path.
std::vector<event::CheckpointSeen> gone_saves(Disk& disk, const State& state, const CheckpointLayout& layout,
                                              const std::vector<std::string>& roots, const std::string& folder);

}  // namespace mw
