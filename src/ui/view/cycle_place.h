// A cycle that begins at a time, of a run whose records have no clock.
#pragma once

#include "base/result.h"
#include "core/state.h"
#include "ui/view/overview.h"

namespace mw {

/// The cycle with the step that the run was at by its time, where records have no clock: by those that have one, else
/// by the progress bar over the steps. An error where nothing shows it; the cycle as it is where all have a clock.
Result<Cycle> placed(const State& state, const Cycle& cycle);

}  // namespace mw
