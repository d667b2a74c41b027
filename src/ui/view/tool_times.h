// How long the calls of a tool took.
#pragma once

#include "core/state.h"

namespace mw {

/// The time, in seconds, that `share` (0..1) of the timed calls did not exceed, by nearest rank; of the calls that the
/// state keeps (ToolState::times). 0 when none was timed.
double time_quantile(const ToolState& tool, double share);

/// How many of the timed calls took longer: exact while the state keeps the times of all, else by those that it keeps.
uint64_t calls_over(const ToolState& tool, double seconds);

}  // namespace mw
