#include "core/detect/support/stands_low.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/detect/tools/stats.h"
#include "core/detect/tools/track.h"
#include "core/detect/tools/true_measure.h"
#include "core/judge_memory.h"

namespace mw::detect {

namespace {

/// The highest record is a ceiling where the reward came up to it from below, where it was reached time and again, or
/// where it is known; of a reward that has always stood there it says only how much that varies.
bool has_ceiling(const State& state, const Track& reward, const RewardScale& scale, size_t end) {
  constexpr size_t kBegin = 5;     // records at the start whose level is compared
  constexpr ptrdiff_t kTimes = 3;  // that a mean comes out the same is no accident
  if (state.find("reward.max") != nullptr || scale.ceiling <= 1) return true;
  if (scale.share(mean(reward.slice(0, std::min(end + 1, kBegin)))) <= kNear.value) return true;
  const auto values = reward.slice(0, end + 1);
  return std::count(values.begin(), values.end(), scale.ceiling) >= kTimes ||
         solved(state, scale, mean(values), kNear.value);
}

}  // namespace

bool stands_low(const State& state, JudgeMemory& memory, const Point& from, const Point& to, double gain) {
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
    const bool near = before + after > 0 && scale.share((before + after) / 2) > kNear.value;
    const bool full = near && has_ceiling(state, reward, scale, end) &&
                      !hardly_anything_was_right(state, to.attempt, from.step, to.step);
    return !full && after - before <= gain * (scale.ceiling - scale.floor);
  }
  return false;
}

}  // namespace mw::detect
