// Where a signal that had left its level is back, for long enough to say so.
#pragma once

#include <cstddef>
#include <optional>

#include "core/detect/tools/track.h"

namespace mw::detect {

/// The first index behind `after` at which `points` records in a row have been back, as `is_back` says of a value.
template <typename IsBack>
std::optional<size_t> back_at(const Track& track, size_t after, size_t points, IsBack&& is_back) {
  size_t row = 0;
  for (size_t i = after + 1; i < track.size(); ++i) {
    row = is_back(track.values[i]) ? row + 1 : 0;
    if (row >= points) return i;
  }
  return std::nullopt;
}

}  // namespace mw::detect
