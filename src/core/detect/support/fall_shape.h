// How a level fell: at once, or by degrees; and between which levels. The window in which a decline is found may hold
// records from before it, so its mean is neither.
#pragma once

#include <cstddef>

#include "core/detect/tools/track.h"

namespace mw::detect {

struct FallShape {
  double before = 0;     ///< mean of the records right before the fall
  double after = 0;      ///< and of those from its onset up to where it was detected
  bool clear = false;    ///< single records scatter little enough to say how long it took
  bool at_once = false;  ///< it is clear, and took no more than two records
};

/// Of a fall that began with the record `onset` and was found with `detected`. `width`: records that show a level.
FallShape fall_shape(const Track& track, size_t onset, size_t detected, size_t width);

}  // namespace mw::detect
