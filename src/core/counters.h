// What counts up between two steps, such as the answers of a rollout: while it moves, a run whose next step is late
// works.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/state.h"

namespace mw {

/// It said so many of so many at `at`; an unknown time leaves the counter as it is.
void add_counter(State& state, const std::string& what, int64_t done, int64_t total, Time at, uint16_t attempt);

/// When a counter of the attempt last moved since the step that was done at `since`; unknown when none did. What begins
/// anew again and again, such as the tries of a request, moves for ever: of it only what is within `patience` of the
/// step counts, in seconds, or within a few times that where it has not begun anew since.
Time last_counted(const State& state, uint16_t attempt, Time since, double patience);

/// The counter of the attempt that moved last since `since`, and had not come to its end; nullptr: there is none.
const std::pair<const std::string, Counter>* open_counter(const State& state, uint16_t attempt, Time since);

}  // namespace mw
