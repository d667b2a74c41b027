#include "core/detect/support/short_pays.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

constexpr size_t kBefore = 6, kLeast = 8;  // points before the onset, and in all, up to where the fall was seen
constexpr double kNotEmpty = 2;            // tokens

/// Length and value of the part, of the steps that have both, in order.
using Pairs = std::vector<std::pair<double, double>>;

Pairs pairs_of(const Series& part, const Track& lengths, size_t from, size_t to) {
  Pairs pairs;
  const std::vector<Point>& points = part.points();
  for (size_t i = from; i < to; ++i) {
    const Point& length = lengths.points[i];
    const auto same = std::find_if(points.begin(), points.end(), [&length](const Point& one) {
      return one.step == length.step && one.attempt == length.attempt;
    });
    if (same != points.end() && std::isfinite(same->value)) pairs.emplace_back(length.value, same->value);
  }
  return pairs;
}

/// The share of pairs of steps in which the longer answers have the lower value; 0 where too few differ.
double opposed(const Pairs& pairs) {
  size_t against = 0, all = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t j = i + 1; j < pairs.size(); ++j) {
      const double longer = pairs[i].first - pairs[j].first, better = pairs[i].second - pairs[j].second;
      if (longer == 0 || better == 0) continue;
      ++all;
      against += (longer > 0) != (better > 0) ? 1 : 0;
    }
  }
  return all < kLeast * (kLeast - 1) / 4 ? 0 : static_cast<double>(against) / static_cast<double>(all);
}

double middle_of(const Pairs& pairs, size_t from, size_t to) {
  std::vector<double> values;
  for (size_t i = from; i < to; ++i) values.push_back(pairs[i].second);
  return median(std::move(values));
}

}  // namespace

std::string short_pays(const State& state, const Track& lengths, const Rise& fall) {
  if (fall.peak < kNotEmpty) return "";
  const size_t from = fall.onset - std::min(fall.onset, kBefore), to = fall.detected + 1;
  std::string text;
  double most = 0;
  for (const Series& part : state.series) {
    if (!part.signal.starts_with("reward.component.")) continue;
    const Pairs pairs = pairs_of(part, lengths, from, to);
    if (pairs.size() < kLeast) continue;
    const double before = middle_of(pairs, 0, pairs.size() / 3);
    const double after = middle_of(pairs, pairs.size() - pairs.size() / 3, pairs.size());
    const double share = opposed(pairs);
    if (share < kOpposed.value || share <= most || after - before < kPaysGain.value * std::abs(before)) continue;
    most = share;
    text = cat(part.signal, " rose from ", format_short(before, 3), " to ", format_short(after, 3),
               " as they got shorter: short answers are rewarded");
  }
  return text;
}

}  // namespace mw::detect
