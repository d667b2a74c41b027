#include "core/detect/support/reward_back.h"

#include <algorithm>

#include "base/text.h"
#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

/// The first record in [from, size) at which the mean of the last ones, all of them from `from` on, is high enough.
std::optional<size_t> held_at(const Track& track, size_t from, double floor, double height) {
  const size_t width = points_of(kHeld);
  for (size_t i = from + width; i <= track.size(); ++i) {
    if (mean(track.slice(i - width, i)) - floor >= kHeldShare.value * height) return i - 1;
  }
  return std::nullopt;
}

size_t above(std::span<const double> values, double floor) {
  return static_cast<size_t>(std::ranges::count_if(values, [floor](double value) { return value > floor; }));
}

}  // namespace

Stretch stretch_of(const Track& track, const Streak& streak) {
  const double floor = track.values[streak.detected];
  Stretch stretch;
  size_t back = 0;
  for (size_t i = streak.first; i < track.size() && back < points_of(kBack); ++i) {
    back = track.values[i] > floor ? back + 1 : 0;
    if (track.values[i] != floor) continue;
    const size_t on_floor = stretch.at.size() + 1;
    if (static_cast<double>(on_floor) < kSingles.value * static_cast<double>(i + 1 - streak.first)) break;
    stretch.at.push_back(i);
  }
  stretch.on_floor = stretch.at.size();
  stretch.last = stretch.at.empty() ? streak.detected : stretch.at.back();
  return stretch;
}

std::optional<double> lost_height(const Track& track, const Streak& streak) {
  if (streak.from_start || stretch_of(track, streak).on_floor < points_of(kLong)) return std::nullopt;
  const double floor = track.values[streak.detected];
  if (2 * above(track.slice(0, streak.first), floor) <= streak.first) return std::nullopt;
  const size_t width = std::min(streak.first, points_of(kHeld));
  const double height = mean(track.slice(streak.first - width, streak.first)) - floor;
  return height > 0 ? std::optional(height) : std::nullopt;
}

std::optional<size_t> back_at(const Track& track, const Streak& streak) {
  const double floor = track.values[streak.detected];
  size_t back = 0, i = streak.detected + 1;
  for (; i < track.size() && back < points_of(kBack); ++i) back = track.values[i] > floor ? back + 1 : 0;
  if (back < points_of(kBack)) return std::nullopt;
  const auto height = lost_height(track, streak);
  return height ? held_at(track, stretch_of(track, streak).last + 1, floor, *height) : std::optional(i - 1);
}

std::string not_back_words(const Track& track, const Streak& streak) {
  const auto height = lost_height(track, streak);
  const auto since = track.slice(stretch_of(track, streak).last + 1, track.size());
  if (!height || since.empty()) return "";
  const double floor = track.values[streak.detected];
  return cat("; since then ", above(since, floor), " of ", since.size(), " records are above that, with a mean of ",
             mean(since), " against ", floor + *height, " before");
}

}  // namespace mw::detect
