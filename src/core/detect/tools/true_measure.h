// Which figures of a run say how much was right, whatever the reward pays for.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/state.h"

namespace mw::detect {

/// Is what has this name named for being right ("accuracy", "solve_rate", "exact_match"), and a level: no spread,
/// extreme, count or difference, and nothing that is paid for the form of an answer?
bool names_success(std::string_view name);

/// The share solved, or a part of the reward that is named for correctness (`accuracy`, `correct`, `success`, …) and is
/// a level: no spread, extreme, count, difference or weight.
bool is_true_measure(const Series& series);

/// True when such a figure was recorded between two steps of an attempt, and all of its values there are exactly 0.
bool nothing_was_right(const State& state, uint16_t attempt, int64_t from, int64_t to);

/// The same of such a figure, or of the reward of the environment itself, whose mean there is next to nothing.
bool hardly_anything_was_right(const State& state, uint16_t attempt, int64_t from, int64_t to);

}  // namespace mw::detect
