#include "core/detect/support/low_points.h"

#include <algorithm>
#include <cmath>

namespace mw::detect {

double lows_in(std::span<const double> points, double low) {
  const auto lows = std::count_if(points.begin(), points.end(), [low](double value) { return value <= low; });
  return points.empty() ? 0 : static_cast<double>(lows) / static_cast<double>(points.size());
}

double chance_of(std::span<const double> before, size_t streak, double low) {
  const auto n = static_cast<double>(before.size());
  return std::pow((lows_in(before, low) * n + 1) / (n + 2), static_cast<double>(streak));
}

bool is_one_of_two(std::span<const double> before, double low, double best, double often) {
  const double lows = lows_in(before, low), between = lows_in(before, low + (best - low) / 2) - lows;
  return lows >= often && between < lows / 2;
}

}  // namespace mw::detect
