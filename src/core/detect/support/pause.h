// Pauses: while a person has paused the command, that it does nothing is no trouble.
#pragma once

#include "core/state.h"

namespace mw::detect {

/// Is it paused now?
bool is_paused(const State& state);
/// When it was last resumed; unknown when it never was.
Time last_resumed(const State& state);

}  // namespace mw::detect
