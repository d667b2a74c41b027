// How far the progress bar over the steps of the plan had come: trainers log a record every so many steps, and the bar
// on every step.
#pragma once

#include <cstdint>

#include "core/state.h"

namespace mw {

/// The steps of its plan that the last attempt had done, by the bar over them; kNoStep when no such bar was drawn, or
/// when it says less than the attempt's own records.
int64_t done_by_bar(const State& state);
/// The last step that the run is known to have been at: by its records or the bar over its plan; where it has neither,
/// by its word on which step it began, or else by the number of its last whole save. kNoStep when nothing shows one.
int64_t last_step_known(const State& state);
/// Of which complete save the number is the highest; kNoStep when none has one.
int64_t last_saved(const State& state);

/// The last step of an attempt's records that the bar over its plan had shown as done before `line` of the source;
/// kNoStep: none.
int64_t shown_before(const AttemptState& attempt, uint32_t source, uint64_t line);

/// Adds what a bar shows to the attempt's marks, if it is the bar over the steps of its plan and says how long it has
/// taken. A bar that begins again is a new one; over steps that the attempt has records of it is the next attempt's,
/// which begins with its first record.
void add_bar_mark(const State& state, AttemptState& attempt, const event::Progressed& bar, const Where& where);

/// When the bar over the attempt's steps was begun, by the clocks of the lines before its own and of those behind them;
/// unknown where none has a clock.
struct BarBegun {
  Time not_before, not_after;
};
BarBegun bar_begun(const State& state, const AttemptState& attempt);

}  // namespace mw
