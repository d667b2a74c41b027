#include "core/detect/support/still_answered.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/detect/tools/stats.h"

namespace mw::detect {
namespace {

constexpr size_t kBefore = 10;  // points of the usual length
constexpr size_t kAfter = 3;    // so many steps are not all of answers that were there before the line
constexpr double kLeast = 0.5;  // of the usual length
constexpr double kEmpty = 2;    // tokens, as zero_reward.cc has it

}  // namespace

bool still_answered(const State& state, uint16_t attempt, int64_t step) {
  const Series* const length = state.find("response.length");
  if (length == nullptr || step == kNoStep) return false;
  const std::vector<Point>& points = length->points();
  std::vector<double> after, before;
  for (size_t i = points.size(); i-- > 0 && before.size() < kBefore;) {
    const Point& point = points[i];
    if (point.attempt != attempt || point.step == kNoStep || !std::isfinite(point.value)) continue;
    if (point.step <= step) {
      before.push_back(point.value);
    } else if (after.size() < kAfter) {
      after.push_back(point.value);
    }
  }
  if (after.size() < kAfter || before.empty()) return false;
  const double least = std::max(kEmpty, kLeast * median(before));
  return std::all_of(after.begin(), after.end(), [least](double value) { return value >= least; });
}

}  // namespace mw::detect
