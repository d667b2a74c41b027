// How long the steps of a run took where its own lines have no clock.
#pragma once

#include <vector>

#include "core/state.h"

namespace mw {

/// Time between two steps that follow one another in the record.
struct StepGap {
  double seconds = 0, steps = 0;
};

/// Of the attempt that goes on, by the progress bar over its steps.
std::vector<StepGap> gaps_by_bar(const State& state);

/// The same by the clock of who watches the run live: from when one step was first seen to when a later one was. A step
/// that was done before the watch began counts from the next one on. Exact to a tick of the watch (ten seconds).
std::vector<StepGap> gaps_by_watch(const State& state);

}  // namespace mw
