// Whether answers of the usual length still come, whatever a line says of the engine that makes them.
#pragma once

#include <cstdint>

#include "core/state.h"

namespace mw::detect {

/// Steps that were completed behind `step` have answers at least half as long as those before it had: the engine that a
/// line of the log calls dead lives, was started again, or was only quoted. False where lengths are not known.
bool still_answered(const State& state, uint16_t attempt, int64_t step);

}  // namespace mw::detect
