#include "core/detect/support/stands_low.h"

#include <span>
#include <vector>

#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/judge_memory.h"

namespace mw::detect {

bool stands_low(const State& state, JudgeMemory& memory, const Point& from, const Point& to) {
  for (const Track& reward : memory.tracks(state, reward_series(state))) {
    size_t end = 0;
    std::vector<double> values;
    for (size_t i = 0; i < reward.size(); ++i) {
      if (reward.points[i].attempt != to.attempt || reward.points[i].step > to.step) continue;
      end = i;
      if (reward.points[i].step >= from.step) values.push_back(reward.values[i]);
    }
    if (values.size() < 2) continue;
    const RewardScale scale = reward_scale(state, reward, end);
    const std::span<const double> all(values);
    const double before = mean(all.first(values.size() / 2)), after = mean(all.subspan(values.size() / 2));
    const bool full = before + after > 0 && scale.share((before + after) / 2) > kNear.value;
    return !full && after - before <= kFlat.value * (scale.ceiling - scale.floor);
  }
  return false;
}

}  // namespace mw::detect
