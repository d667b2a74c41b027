#include "core/detect/support/learned_to_avoid.h"

#include <utility>
#include <vector>

#include "core/detect/tools/stats.h"

namespace mw::detect {

bool learned_to_avoid(const State& state, const Track& reward, const RewardScale& scale, const Point& from,
                      const Point& to, double share) {
  constexpr size_t kNear = 5;      // records before it was reached
  constexpr double kAsLong = 0.5;  // of the length of the answers before
  if (scale.floor >= 0 || scale.ceiling > 0) return false;
  const Series* length = state.find("response.length");
  std::vector<double> near = last_values(*reward.series, to.attempt, 0, from.step - 1, kNear);
  const auto before = level_between(length, to.attempt, 0, from.step - 1);
  const auto now = level_between(length, to.attempt, from.step, to.step);
  if (near.size() < kNear || !before || !now) return false;
  return scale.share(median(std::move(near))) > share && *now >= kAsLong * *before;
}

}  // namespace mw::detect
