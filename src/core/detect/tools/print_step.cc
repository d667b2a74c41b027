#include "core/detect/tools/print_step.h"

#include <algorithm>
#include <cmath>

namespace mw::detect {

double print_step(std::span<const double> values) {
  constexpr int kDigits = 9;
  constexpr double kTolerance = 1e-6;
  double scale = 1;
  for (int digits = 0; digits <= kDigits; ++digits, scale *= 10) {
    const auto whole = [scale](double value) {
      const double scaled = value * scale;
      return std::abs(scaled - std::round(scaled)) <= kTolerance * std::max(1.0, std::abs(scaled) * 1e-6);
    };
    if (std::all_of(values.begin(), values.end(), whole)) return 1 / scale;
  }
  return 0;
}

}  // namespace mw::detect
