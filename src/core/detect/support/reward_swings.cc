#include "core/detect/support/reward_swings.h"

#include <algorithm>
#include <cstdint>

namespace mw::detect {

bool brief(size_t onset, size_t back) {
  return static_cast<double>(back - onset) <= std::max(kBrief.value, kBriefShare.value * static_cast<double>(back));
}

void soften_swings(const Track& track, std::vector<Finding>& falls) {
  const auto made_good = std::count_if(falls.begin(), falls.end(), [](const Finding& fall) { return fall.resolved; });
  if (track.size() == 0 || static_cast<double>(made_good) < kSwings.value) return;
  int64_t longest = 0;  // steps
  for (const Finding& fall : falls) {
    if (fall.resolved) longest = std::max(longest, fall.resolved_at.step - fall.onset.step);
  }
  for (Finding& fall : falls) {
    const int64_t steps = (fall.resolved ? fall.resolved_at.step : track.points.back().step) - fall.onset.step;
    if (static_cast<double>(steps) <= kSwingTimes.value * static_cast<double>(longest)) fall.severity = Severity::kInfo;
  }
}

}  // namespace mw::detect
