// Means of windows of a track, which a fall is measured by.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/detect/tools/track.h"

namespace mw::detect {

/// Means of the windows of `width` points that end at each index below `end`; -infinity where there are fewer points.
std::vector<double> window_means(const Track& track, size_t end, size_t width);

/// The highest of them so far, record by record.
struct BestMean {
  size_t width = 0;
  double sum = 0, most = -INFINITY;
  /// The next record, of index `j`. Inline, as it is called for each record at each hundredth of a run's way.
  void see(const Track& track, size_t j) {
    sum += track.values[j];
    if (j >= width) sum -= track.values[j - width];
    if (j + 1 >= width) most = std::max(most, sum);
  }
  double value() const { return most / static_cast<double>(width); }
};

/// The largest loss of level among windows that end before `best_end`: whatever it was, the best window made it good.
double largest_swing(const std::vector<double>& means, size_t best_end, size_t width);

}  // namespace mw::detect
