// What a learning-rate schedule says of how many steps were planned.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/series.h"

namespace mw {

/// The step at which the learning rate reaches zero, where it falls on a straight line or along half a cosine, as
/// transformers' `linear` and `cosine` schedules do (transformers/optimization.py); of one attempt's points. nullopt:
/// it does not fall, or not so, or too little of it is seen. Within some percent of a cosine, as its beginning is not
/// known to the step.
std::optional<int64_t> planned_by_rate(const std::vector<Point>& points, uint16_t attempt);

}  // namespace mw
