// How long the steps of a run take.
#pragma once

#include <string>

#include "core/state.h"
#include "core/step_gaps.h"

namespace mw {

/// Seconds per step (median of the last 20), from time.step, from the steps' own times, from the progress bar over
/// them or from the clock of who watches; 0 when not known.
double seconds_per_step(const State& state);
/// "92.4 s per step"; "16.2 s per step of late, 1m 34s before" where the last 20 steps took far longer or shorter; ""
/// when not known.
std::string pace_text(const State& state);

}  // namespace mw
