// When a run's files were written, by the clocks of their lines and by the progress bar over its steps.
#pragma once

#include <vector>

#include "core/state.h"

namespace mw {

/// When the first and the last line of its files were written, whatever they hold, or the first and the last event
/// came, by the files whose clocks leave the least open; unknown where none has a time.
Time written_since(const State& state);
Time written_until(const State& state);

/// The files whose clocks leave the least open: times of the others lie hours or years apart from theirs. Empty: all of
/// the run's files are alike in that.
std::vector<const SourceState*> best_dated(const State& state);

/// How long an attempt's steps took by the bar over them, in seconds; 0 where it has none.
double seconds_by_bar(const AttemptState& attempt);
/// The last attempt's.
double seconds_by_bar(const State& state);
/// All attempts' together.
double seconds_by_bars(const State& state);

/// When the bar over the last attempt's steps stood where it was last seen, as if it had begun with the first clock;
/// unknown where there is no such bar, or no clock.
Time bar_until(const State& state);

/// The time of the last event. Where few lines have a clock, and none near the end, the bar over the steps goes on
/// beyond them, as if it had begun with the first of them.
Time ran_until(const State& state);

}  // namespace mw
