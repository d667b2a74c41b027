// Files that are read to their present end while the run goes on: their end is not the run's.
#pragma once

#include "base/time.h"
#include "core/state.h"

namespace mw {

/// A run that said something so short a time ago goes on, as far as its files show: a step, a save or an evaluation
/// takes minutes.
constexpr Duration kGoesOn = Duration::seconds(600);

/// Takes back, of a state whose files were read to their end, what only that end says: that the last attempt died
/// silently. Its verdict is then "running". Only where the last line with a clock is at most kGoesOn older than `now`
/// (and not from the future: then the clocks differ) and the files name no end. True when it did.
bool take_as_running(State& state, Time now);

}  // namespace mw
