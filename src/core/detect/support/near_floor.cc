#include "core/detect/support/near_floor.h"

#include <algorithm>

#include "core/detect/tools/stats.h"

namespace mw::detect {

double share_on(const Track& track, size_t from, size_t to, double floor) {
  const auto some = track.slice(from, to);
  return static_cast<double>(std::count(some.begin(), some.end(), floor)) / static_cast<double>(some.size());
}

bool NearFloor::see(const State& state, const Track& track, size_t i) {
  const double value = track.values[i];
  possible_ = possible_ && value >= floor_;
  on_ += value == floor_ ? 1 : 0;
  above_ += value - floor_;
  highest_ = std::max(highest_, value);
  const size_t n = i + 1;
  return possible_ && (hardly_off(state, track, n) || seldom_off(track, n) || scarcely_off(state, track, n));
}

/// Hardly a record leaves the floor, those that do stay low, and it does not get more.
bool NearFloor::hardly_off(const State& state, const Track& track, size_t n) const {
  if (n < points_of(kNearPoints) || static_cast<double>(on_) < kNearShare.value * static_cast<double>(n)) return false;
  const RewardScale scale = reward_scale(state, track, n - 1, floor_, highest_);
  return above_ / static_cast<double>(n) <= kNearMean.value * std::max(1.0, scale.ceiling - scale.floor) &&
         mean(track.slice(n - n / 3, n)) <= mean(track.slice(0, n / 3));
}

/// Few records leave the floor, and hardly more of them at the end.
bool NearFloor::seldom_off(const Track& track, size_t n) const {
  return n >= points_of(kSeldomPoints) && static_cast<double>(on_) >= kSeldom.value * static_cast<double>(n) &&
         share_on(track, n - n / 3, n, floor_) >= kSeldom.value;
}

/// Half of the records lie on the floor, and the others hardly above it.
bool NearFloor::scarcely_off(const State& state, const Track& track, size_t n) const {
  if (n < points_of(kScarcePoints) || static_cast<double>(on_) < kScarce.value * static_cast<double>(n)) return false;
  const RewardScale scale = reward_scale(state, track, n - 1, floor_, highest_);
  return highest_ - floor_ <= kScarceMost.value * std::max(1.0, scale.ceiling - scale.floor) &&
         share_on(track, n - n / 3, n, floor_) >= kScarce.value;
}

}  // namespace mw::detect
