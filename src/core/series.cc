#include "core/series.h"

#include <cmath>
#include <limits>

namespace mw {

void Series::add(const Point& point, size_t limit) {
  if (count_ == 0) {
    min_ = max_ = std::numeric_limits<double>::quiet_NaN();
    first_ = point.value;
  }
  ++count_;
  last_ = point.value;
  if (std::isfinite(point.value)) {
    ++finite_;
    sum_ += point.value;
    if (finite_ == 1 || point.value < min_) min_ = point.value;
    if (finite_ == 1 || point.value > max_) max_ = point.value;
  } else {
    ++non_finite_;
  }
  if (!points_.empty() && point.step != kNoStep && points_.back().step == point.step &&
      points_.back().attempt == point.attempt) {
    points_.back() = point;
    return;
  }
  while (points_.size() >= limit && points_.size() >= 4) {
    const size_t half = points_.size() / 2;
    size_t kept = 0;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (i < half && i % 2 == 1) continue;
      points_[kept++] = points_[i];
    }
    points_.resize(kept);
  }
  points_.push_back(point);
}

void Series::move_attempt(uint16_t from, uint16_t to) {
  for (Point& point : points_) {
    if (point.attempt == from) point.attempt = to;
  }
}

double Series::mean() const {
  return finite_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / static_cast<double>(finite_);
}

}  // namespace mw
