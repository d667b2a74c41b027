#include "core/detect/tools/window_means.h"

#include <algorithm>

namespace mw::detect {

std::vector<double> window_means(const Track& track, size_t end, size_t width) {
  std::vector<double> means(end, -INFINITY);
  double sum = 0;
  for (size_t j = 0; j < end; ++j) {
    sum += track.values[j];
    if (j >= width) sum -= track.values[j - width];
    if (j + 1 >= width) means[j] = sum / static_cast<double>(width);
  }
  return means;
}

double largest_swing(const std::vector<double>& means, size_t best_end, size_t width) {
  double best = -INFINITY, swing = 0;
  for (size_t j = 2 * width; j < best_end; ++j) {
    best = std::max(best, means[j - width]);
    swing = std::max(swing, best - means[j]);
  }
  return swing;
}

}  // namespace mw::detect
