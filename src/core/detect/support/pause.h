// Pauses: while a person has paused the command, that it does nothing is no trouble.
#pragma once

#include "core/state.h"

namespace mw::detect {

/// Is it paused now?
bool is_paused(const State& state);
/// When it was last resumed; unknown when it never was.
Time last_resumed(const State& state);
/// The same, or when a process that somebody else had stopped was continued (core/components.h), whichever is later.
Time last_set_going(const State& state);

}  // namespace mw::detect
