// How long steps take by the clock: what every forecast of a run goes by.
#pragma once

#include <vector>

#include "core/state.h"

namespace mw {

/// Times a stated step time: evaluations and saves alone do not take that, so it is the time of a part of the step.
inline constexpr double kPartOfStep = 3;

/// Time between two steps that follow one another in the record.
struct StepGap {
  double seconds = 0, steps = 0;
};

/// Fewer gaps show no pace.
inline constexpr size_t kLeastGaps = 3;

/// Of the attempt that goes on, by the progress bar over its steps.
std::vector<StepGap> gaps_by_bar(const State& state);

/// The same by the clock of who watches the run live: from when one step was first seen to when a later one was. A step
/// that was done before the watch began counts from the next one on. Exact to a tick of the watch (ten seconds).
std::vector<StepGap> gaps_by_watch(const State& state);

/// The same by the clocks of the steps, else by the bar, else by the watch; empty where none has kLeastGaps.
std::vector<StepGap> step_gaps(const State& state);

/// Seconds per step by those clocks over the last 20 gaps; 0 when not known.
double clock_pace(const State& state);

/// `stated` seconds per step, as a trainer says; the pace of the clocks where they show quite another one, so that all
/// that is expected of a run is expected by one clock.
double forecast_pace(const State& state, double stated);

}  // namespace mw
