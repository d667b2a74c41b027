// How far the other files of a run may be beyond the log in which a failure stands, though nothing was done after it.
#pragma once

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// The last line of the symptom's attempt in the symptom's source.
uint64_t last_line_of(const State& state, const Symptom& symptom);

/// Does the symptom stand at the end of its log, or of what its attempt wrote into it, but for a logger's summary and
/// what a launcher says of it?
bool ends_its_log(const State& state, const Symptom& symptom);

/// Steps beyond that of the symptom which another file may have, without a clock that says when, though the run died of
/// it: a log that prints every tenth step is nine behind. Of a live watch, those that were known at its first tick
/// behind the symptom.
int64_t steps_in_flight(const State& state, const Symptom& symptom);

}  // namespace mw::detect
