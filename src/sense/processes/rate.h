// How fast a counter grows.
#pragma once

#include <optional>

#include "base/time.h"

namespace mw::components {

class Rate {
 public:
  /// `total`: what the counter says at `now`, by the steady clock. Per second since the last time; nothing the first
  /// time, and where it began anew.
  std::optional<double> take(double total, Duration now) {
    const std::optional<double> before = total_;
    const double seconds = Duration{now.ns - at_.ns}.seconds();
    total_ = total;
    at_ = now;
    if (!before || total < *before || seconds <= 0) return std::nullopt;
    return (total - *before) / seconds;
  }

 private:
  std::optional<double> total_;
  Duration at_;
};

}  // namespace mw::components
