#include "core/detect/tools/stats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mw::detect {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kSorted = 16;  // values up to which sorting by insertion is faster than selection

std::vector<double> block_means(std::span<const double> values, size_t blocks) {
  std::vector<double> out;
  out.reserve(blocks);
  for (size_t b = 0; b < blocks; ++b) {
    const size_t from = b * values.size() / blocks;
    const size_t to = (b + 1) * values.size() / blocks;
    out.push_back(mean(values.subspan(from, to - from)));
  }
  return out;
}

}  // namespace

double median_of(std::span<double> values) {
  if (values.empty()) return kNaN;
  const size_t middle = values.size() / 2;
  if (values.size() <= kSorted) {
    for (size_t i = 1; i < values.size(); ++i) {
      const double value = values[i];
      size_t at = i;
      for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
      values[at] = value;
    }
    if (values.size() % 2 == 1) return values[middle];
    return values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
  }
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  const double lower = *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle));
  return lower + (upper - lower) / 2;
}

double median(std::vector<double> values) { return median_of(values); }

double mean(std::span<const double> values) {
  if (values.empty()) return kNaN;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

size_t quantile_index(size_t size, double q) {
  const double rank = std::ceil(q * static_cast<double>(size)) - 1;
  return static_cast<size_t>(std::clamp(rank, 0.0, static_cast<double>(size - 1)));
}

double quantile_of(std::span<double> values, double q) {
  if (values.empty()) return kNaN;
  const size_t index = quantile_index(values.size(), q);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index), values.end());
  return values[index];
}

double quantile(std::vector<double> values, double q) { return quantile_of(values, q); }

double noise(std::span<const double> values) {
  if (values.size() < 2) return 0;
  std::vector<double> differences;
  differences.reserve(values.size() - 1);
  for (size_t i = 1; i < values.size(); ++i) differences.push_back(std::abs(values[i] - values[i - 1]));
  const double middle = median(differences);
  if (middle > 0) return middle / (0.6745 * std::sqrt(2.0));
  return mean(differences) * 0.886;
}

double error_of_means(std::span<const double> first, std::span<const double> second) {
  const auto squared = [](std::span<const double> values) {
    const double middle = mean(values);
    double sum = 0;
    for (const double value : values) sum += (value - middle) * (value - middle);
    const auto n = static_cast<double>(values.size());
    return n > 1 ? sum / ((n - 1) * n) : 0;
  };
  return std::sqrt(squared(first) + squared(second));
}

std::vector<double> rolling_median(std::span<const double> values, size_t width) {
  std::vector<double> out;
  out.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    out.push_back(median_of_last(values.first(i + 1), width));
  }
  return out;
}

double median_of_last(std::span<const double> values, size_t width) {
  const auto window = values.last(std::min(width, values.size()));
  if (window.size() > kSmallWindow) return median({window.begin(), window.end()});
  std::array<double, kSmallWindow> copy;
  std::copy(window.begin(), window.end(), copy.begin());
  return median_of(std::span(copy).first(window.size()));
}

double ranks_above(std::span<const double> a, std::span<const double> b, double alike) {
  if (a.empty() || b.empty()) return 0;
  std::vector<double> sorted(b.begin(), b.end());
  std::sort(sorted.begin(), sorted.end());
  double higher = 0;
  for (const double value : a) {
    const auto low = std::lower_bound(sorted.begin(), sorted.end(), value - alike);
    const auto high = std::upper_bound(sorted.begin(), sorted.end(), value + alike);
    higher += static_cast<double>(low - sorted.begin()) + static_cast<double>(high - low) / 2;
  }
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  return (higher - n * m / 2) / std::sqrt(n * m * (n + m + 1) / 12);
}

double trend_score(std::span<const double> values) {
  if (values.size() < 4) return 0;
  std::vector<double> picked;
  if (values.size() > kTrendPoints) {
    picked = block_means(values, kTrendPoints);
    values = picked;
  }
  double score = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i + 1; j < values.size(); ++j) {
      score += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    }
  }
  const double n = static_cast<double>(values.size());
  const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  if (score > 0) return (score - 1) / deviation;
  if (score < 0) return (score + 1) / deviation;
  return 0;
}

size_t change_point(std::span<const double> values) {
  if (values.size() < 2) return 0;
  double total = 0;
  for (const double value : values) total += value;
  double left = 0, best = -1;
  size_t at = 1;
  const double n = static_cast<double>(values.size());
  for (size_t k = 1; k < values.size(); ++k) {
    left += values[k - 1];
    const double nl = static_cast<double>(k), nr = n - nl;
    const double gap = left / nl - (total - left) / nr;
    const double gain = gap * gap * nl * nr / n;  // the drop in the sum of squares
    if (gain > best) {
      best = gain;
      at = k;
    }
  }
  return at;
}

}  // namespace mw::detect
