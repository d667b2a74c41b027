#include "core/detect/support/without_spread.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace mw::detect {
namespace {

constexpr size_t kFurther = 10;  ///< windows: so far back a record with a spread is looked for

/// Whether the record at `point` had a spread; nullopt where the run says nothing of it.
std::optional<bool> had_spread(const Series* spread, const Series* uniform, const Point& point) {
  const auto at = [&point](const Series* series) -> std::optional<double> {
    if (series == nullptr || point.step == kNoStep) return std::nullopt;
    const auto values = last_values(*series, point.attempt, point.step, point.step, 1);
    return values.empty() ? std::nullopt : std::optional(values.front());
  };
  if (const auto deviation = at(spread)) return *deviation != 0;
  if (const auto share = at(uniform)) return *share < 1;
  return std::nullopt;
}

}  // namespace

bool some_lacked_spread(const State& state) {
  const auto some = [](const Series* series, auto lacks) {
    return series != nullptr && std::any_of(series->points().begin(), series->points().end(),
                                            [lacks](const Point& point) { return lacks(point.value); });
  };
  return some(state.find("advantage.std"), [](double deviation) { return deviation == 0; }) ||
         some(state.find("reward.zero_std_groups"), [](double share) { return share >= 1; });
}

bool lacks_a_like(const State& state, const Track& track, size_t i, size_t window, size_t least, double times) {
  const Series* spread = state.find("advantage.std");
  const Series* uniform = state.find("reward.zero_std_groups");
  if (!had_spread(spread, uniform, track.points[i]).value_or(false)) return false;
  size_t without = 0, with = 0, older = 0;
  double most = 0;
  for (size_t back = 1; back <= std::min(i, kFurther * window); ++back) {
    const auto had = had_spread(spread, uniform, track.points[i - back]);
    if (!had) continue;
    size_t& counted = back > window ? older : *had ? with : without;
    if (back <= window || *had) ++counted;
    if (*had) most = std::max(most, std::abs(track.values[i - back]));
    if (back >= window && (without == 0 || without < with)) return false;
  }
  if (without == 0 || without < with) return false;
  return with + older < least || std::abs(track.values[i]) < times * most;
}

}  // namespace mw::detect
