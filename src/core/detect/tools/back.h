// Where a signal that had left its level is back, for long enough to say so.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

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

/// Where one detector reports the same more often than this, the first ones and the newest are enough.
constexpr size_t kStretchesReported = 4;

/// Records in a row above a limit.
struct Stretch {
  size_t first = 0, detected = 0;
  std::optional<size_t> ended;
};
struct StretchRule {
  double limit;
  size_t persist;   ///< records in a row above it
  size_t back;      ///< records in a row at it or below that end one
  size_t from = 0;  ///< first record that counts
};
std::vector<Stretch> stretches_of(const Track& track, const StretchRule& rule);

}  // namespace mw::detect
