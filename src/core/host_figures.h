// What the machine under the run shows, as a part of the state. A part of fold().
#pragma once

#include "core/state.h"

namespace mw {

/// Adds the figures of `measured` to State::host; they belong to `attempt`.
void add_host_figures(State& state, const Event& event, const event::Measured& measured, uint16_t attempt);

/// Adds how a checkpoint was found on the disk: no sign of life of the trainer, and no step of it.
void add_checkpoint_scan(State& state, const Event& event, const event::CheckpointSeen& seen, uint16_t attempt);

}  // namespace mw
