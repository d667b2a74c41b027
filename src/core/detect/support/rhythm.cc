#include "core/detect/support/rhythm.h"

#include <algorithm>
#include <vector>

namespace mw::detect {

Rhythm rhythm_of(const State& state, Time at, double least) {
  Rhythm rhythm;
  std::vector<double> spans;
  for (size_t i = 1; i < state.anchors.size() && state.anchors[i].first <= at; ++i) {
    const int64_t steps = state.anchors[i].second - state.anchors[i - 1].second;
    if (steps <= 0) continue;
    const double gap = (state.anchors[i].first - state.anchors[i - 1].first).seconds();
    spans.push_back(gap / static_cast<double>(steps));
    rhythm.longest = std::max(rhythm.longest, gap);
  }
  if (static_cast<double>(spans.size()) < least) return {};
  const auto middle = spans.begin() + static_cast<ptrdiff_t>(spans.size() / 2);
  std::nth_element(spans.begin(), middle, spans.end());
  rhythm.usual = *middle;
  return rhythm;
}

}  // namespace mw::detect
