// The newest values of a series in order of size: a walk asks a window for its median at every point, and from one
// point to the next a window loses one value and gains one.
#pragma once

#include <cstddef>
#include <vector>

namespace mw::detect {

/// At most `width` values; all finite. What it answers is what stats.h says of the same values.
class SortedWindow {
 public:
  explicit SortedWindow(size_t width) : width_(width) {}
  /// The next value; the oldest one leaves when there would be more than `width`.
  void push(double value);
  size_t size() const { return sorted_.size(); }
  /// NaN when empty, as are the others.
  double median() const;
  double quantile(double q) const;
  double largest() const { return quantile(1); }

 private:
  size_t width_;
  size_t oldest_ = 0;            // its place in arrived_, once that is full
  std::vector<double> arrived_;  // by turns
  std::vector<double> sorted_;
};

}  // namespace mw::detect
