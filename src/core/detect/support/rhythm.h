// How long the steps of a run take, by the clocks of the sources that report them.
#pragma once

#include "core/state.h"

namespace mw::detect {

struct Rhythm {
  double usual = 0;    ///< s, the median time of one step; 0 while too few were done
  double longest = 0;  ///< s, between two steps: with an evaluation or a save, where there was one
  size_t gaps = 0;     ///< that this is known from
  double lately = 0;   ///< s, the median of the last sixteen of them: answers grow, and steps with them
  bool known() const { return usual > 0; }
};

/// Did another attempt begin between the two moments? Then what lies between them is no step.
bool restarted_between(const State& state, Time from, Time to);

/// Of the steps that were reported by `at`. `least`: fewer steps have no rhythm.
Rhythm rhythm_of(const State& state, Time at, double least);

/// The same of the last attempt, by the progress bar over its steps.
Rhythm rhythm_by_bar(const State& state, double least);

/// The same by the clock of the watch, of the last attempt, whether or not the run's files have a clock. Zero while no
/// watch ticks, or fewer steps were done meanwhile.
Rhythm rhythm_by_ticks(const State& state, double least);

/// For how long the last attempt has been at its step, as the watch saw it, not counting times when nobody watched;
/// since when; unknown while no watch ticks.
struct Standstill {
  Time since;
  double seconds = 0;
  double quiet = 0;  ///< s of it, at its end, in which no log said anything besides what idle servers say
};
Standstill standstill(const State& state);

}  // namespace mw::detect
