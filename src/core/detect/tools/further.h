// How much further a change went after it was found: a sentence with the figures of that moment alone belittles what
// came of it.
#pragma once

#include <optional>
#include <string>

#include "core/detect/tools/track.h"

namespace mw::detect {

/// A change of a track's level, as a sentence says it.
struct Change {
  double from = 0, to = 0;      ///< the levels
  size_t found = 0;             ///< the point at which it had come to `to`
  std::optional<size_t> ended;  ///< the point at which it was over
};
inline Change change_of(const Rise& rise) { return {rise.base, rise.peak, rise.detected, rise.ended}; }

/// ", and to 12 by step 62": the furthest level, as the median of `width` records, that it came to since; "" where that
/// is neither half as far again nor, in a fall of positive figures, half of `to`. What goes on by degrees is named
/// at distances that grow, so that a live incident does not change with each record.
std::string and_further(const Track& track, const Change& change, size_t width = 3);

}  // namespace mw::detect
