// What the machine under the run shows, as a part of the state. A part of fold().
#pragma once

#include <string_view>

#include "core/state.h"

namespace mw {

/// The raw names of a sink's own samples of the machine begin so. They are of no step: many come within one.
inline constexpr std::string_view kMachine = "system/";
inline bool of_machine(std::string_view raw) { return raw.starts_with(kMachine); }

/// Adds the figures of `measured` to State::host; they belong to `attempt`.
void add_host_figures(State& state, const Event& event, const event::Measured& measured, uint16_t attempt);

/// Adds a checkpoint that the run saved, or began to; the oldest ones make room.
void add_checkpoint(State& state, const Moment& moment, const event::CheckpointSaved& saved);

/// Adds how a checkpoint was found on the disk: no sign of life of the trainer, and no step of it. Where the run's
/// files tell of no save at all, it is one that was saved.
void add_checkpoint_scan(State& state, const Event& event, const event::CheckpointSeen& seen, uint16_t attempt);

/// Likewise what reading all of its bytes found.
void add_checkpoint_read(State& state, const Event& event, const event::CheckpointRead& read, uint16_t attempt);
/// Likewise how the file that names the newest checkpoint was found.
void add_pointer(State& state, const Event& event, const event::PointerSeen& seen, uint16_t attempt);

}  // namespace mw
