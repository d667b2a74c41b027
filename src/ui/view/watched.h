// Whether a run goes on that no midwatch watches.
#pragma once

#include "api/requests.h"
#include "core/state.h"

namespace mw {

/// Its command, which midwatch started, is not over, and no midwatch watches it.
bool should_be_watched(const RunStatus& status);

/// The same of a run that `attach` read: its process lives; or, where no process of it is known, it had come to no end
/// when it was last looked at.
bool was_left(const State& state, const RunStatus& status);

}  // namespace mw
