#include "core/detect/tools/sorted_window.h"

#include <algorithm>
#include <limits>

#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// How many of the values are below `value`. Without a jump that depends on the values, as those of noise are guessed
/// wrong every second time.
size_t count_below(const std::vector<double>& sorted, double value) {
  const double* begin = sorted.data();
  for (size_t size = sorted.size(); size > 0;) {
    const size_t half = (size + 1) / 2;
    begin += begin[half - 1] < value ? half : 0;
    size -= half;
  }
  return static_cast<size_t>(begin - sorted.data());
}

}  // namespace

void SortedWindow::push(double value) {
  const size_t to = count_below(sorted_, value);
  const auto at = [this](size_t i) { return sorted_.begin() + static_cast<std::ptrdiff_t>(i); };
  if (sorted_.size() < width_) {
    sorted_.insert(at(to), value);
    arrived_.push_back(value);
    return;
  }
  if (width_ == 0) return;
  const size_t from = count_below(sorted_, arrived_[oldest_]);
  arrived_[oldest_] = value;
  oldest_ = oldest_ + 1 == width_ ? 0 : oldest_ + 1;
  if (to > from) {
    std::copy(at(from + 1), at(to), at(from));
    sorted_[to - 1] = value;
  } else {
    std::copy_backward(at(to), at(from), at(from + 1));
    sorted_[to] = value;
  }
}

double SortedWindow::median() const {
  if (sorted_.empty()) return kNaN;
  const size_t middle = sorted_.size() / 2;
  if (sorted_.size() % 2 == 1) return sorted_[middle];
  return sorted_[middle - 1] + (sorted_[middle] - sorted_[middle - 1]) / 2;
}

double SortedWindow::quantile(double q) const {
  return sorted_.empty() ? kNaN : sorted_[quantile_index(sorted_.size(), q)];
}

}  // namespace mw::detect
