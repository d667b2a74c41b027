#include "core/step_done.h"

#include <algorithm>

namespace mw {

Time done_at(const State& state, int64_t step) {
  Time at;
  for (const Series& series : state.series) {
    for (auto point = series.points().rbegin(); point != series.points().rend() && point->step >= step; ++point) {
      if (point->step == step && point->attempt + 1U == state.attempts.size()) at = std::max(at, point->at);
    }
  }
  return at;
}

}  // namespace mw
