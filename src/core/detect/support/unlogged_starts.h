// Starts of a run that left an event file of TensorBoard's without a single figure in it.
#pragma once

#include <vector>

#include "core/incident.h"
#include "core/state.h"

namespace mw::detect {

/// Each process that begins to log makes an event file of its own, whose name says when. Where all that there is of
/// several starts are such files with the run's arguments in them, none came to its first record: a warning. Where a
/// later one logged, those before it are information. Silent where a log or W&B's record tells of the starts, and of a
/// single file: it may be young.
std::vector<Finding> unlogged_starts(const State& state);

}  // namespace mw::detect
