// Whether an exception was raised past all of a program that might have caught it.
#pragma once

#include "core/state.h"

namespace mw {

/// Its outermost frame is a module's: nothing of the program lies above what raised.
bool is_from_module(const State& state, const TraceState& trace);

}  // namespace mw
