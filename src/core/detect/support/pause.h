// Pauses: while a person has paused the command, or while it does what it announced and what may take long, that no
// step comes is no trouble.
#pragma once

#include "core/detect/detector.h"
#include "core/state.h"

namespace mw::detect {

/// Is it paused now?
bool is_paused(const State& state);
/// When it was last resumed; unknown when it never was.
Time last_resumed(const State& state);
/// The same, or when a process that somebody else had stopped was continued (core/components.h), whichever is later.
Time last_set_going(const State& state);

// They stand in the tables of the detectors that ask.
inline constexpr Knob kAnnounced{
    "announced", 14400, "s", "An evaluation that was announced may be done by a service elsewhere, which takes hours",
    "batch APIs answer within a day, most within hours; own choice"};

/// The evaluation, the save or the start-up that the attempt had announced and that was still under way at `at`;
/// nullptr: there was none.
const State::LongPhase* announced_phase(const State& state, size_t attempt, Time at);

}  // namespace mw::detect
