// Whether an attempt that began at the first step is about to save over what an earlier one of the same run left.
#pragma once

#include <cstddef>

#include "core/state.h"

namespace mw {

/// Would attempt number `attempt` (counted from 0), which counts its steps from the first one, write over whole
/// checkpoints that an attempt before it left? False where anything shows that it resumed after all and only counts
/// anew: it says that it resumed, or a counter of all that was trained (epochs, tokens) goes on from where it was.
/// False where it saves to another folder, where midwatch moved away all that was left, and where a person allowed it
/// to begin from nothing.
bool would_overwrite(const State& state, size_t attempt);

}  // namespace mw
