// The same figures at the same step in two sources: they are of one attempt. A part of fold().
#pragma once

#include "core/state.h"

namespace mw {

/// A number that could hardly be equal by chance: neither whole nor undefined.
bool is_distinctive(double value);

/// The attempt in which another source reported the same numbers for the same step (two thirds of those that can be
/// compared); -1 when none did.
int32_t attempt_that_agrees(const State& state, uint32_t source, const event::Measured& measured);

/// Of figures at this step that another source has, too, none is the same.
bool differs_from_all(const State& state, uint32_t source, const event::Measured& measured);

}  // namespace mw
