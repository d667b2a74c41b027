// Figures that a run logs for each rollout by itself: a reward's parts, by which pass rates and ranges are counted.
#pragma once

#include <string_view>

namespace mw {

/// The raw names of such figures begin so. They have no step: many rollouts are of one, and none of them says that it
/// is done. No detector reads them.
inline constexpr std::string_view kTrajectory = "trajectory/";

inline bool of_trajectory(std::string_view raw) { return raw.starts_with(kTrajectory); }

}  // namespace mw
