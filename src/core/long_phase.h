// Phases of a run, as its log announces them, and which of them may say nothing for long.
#pragma once

#include <string_view>

#include "core/state.h"

namespace mw {

/// `heard`: when the line was read, or its own time where nobody watched.
void begin_phase(State& state, std::string_view phase, const Moment& moment, Time heard);
void end_phase(State& state, std::string_view phase, Time heard);
/// A save is a phase of its own, from the line that announces it to the one that says it is complete.
void begin_save(State& state, bool complete, const Moment& moment, Time heard);
/// One that says how many seconds it took, at least 0, in Point::value.
void add_phase_end(PhaseState& phase, const Point& end);
/// A step was recorded: what was announced before the one that was under way is over.
void trained_on(State& state, uint16_t attempt, int64_t step, Time heard);

}  // namespace mw
