// The figures of a metric record, as a part of the state. A part of fold().
#pragma once

#include "core/state.h"

namespace mw {

/// Adds each reading of `measured` to the series of its source and names. `step` is that of the record, or where it has
/// none, of the trainer; `attempt` is the one it belongs to.
void add_figures(State& state, const Event& event, const event::Measured& measured, int64_t step, uint16_t attempt);

}  // namespace mw
