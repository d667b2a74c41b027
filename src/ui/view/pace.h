// How long the steps of a run take.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace mw {

/// Times a stated step time: evaluations and saves alone do not take that, so it is the time of a part of the step.
inline constexpr double kPartOfStep = 3;

/// Time between two steps that follow one another in the record.
struct StepGap {
  double seconds = 0, steps = 0;
};

/// Of the attempt that goes on, by the progress bar over its steps.
std::vector<StepGap> gaps_by_bar(const State& state);

/// The same by the clock of who watches the run live: from when one step was first seen to when a later one was. A step
/// that was done before the watch began counts from the next one on. Exact to a tick of the watch (ten seconds).
std::vector<StepGap> gaps_by_watch(const State& state);

/// Seconds per step (median of the last 20), from time.step, from the steps' own times, from the progress bar over
/// them or from the clock of who watches; 0 when not known.
double seconds_per_step(const State& state);
/// "92.4 s per step"; "16.2 s per step of late, 1m 34s before" where the last 20 steps took far longer or shorter; ""
/// when not known.
std::string pace_text(const State& state);

}  // namespace mw
