// Pauses: while a person has the command held still, that it does nothing is no news.
#pragma once

#include "core/state.h"

namespace mw::detect {

/// Is it held still now?
bool held_still(const State& state);
/// When it was last let go on; unknown when it never was.
Time let_go_on(const State& state);

}  // namespace mw::detect
