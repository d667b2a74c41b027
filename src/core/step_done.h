// When a step was done, by the run's own figures.
#pragma once

#include <cstdint>

#include "core/state.h"

namespace mw {

/// The latest time of the figures that the last attempt has of the step; unknown where none has a time.
Time done_at(const State& state, int64_t step);

}  // namespace mw
