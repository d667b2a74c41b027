#include "core/step_at_line.h"

#include <algorithm>

namespace mw {

int64_t step_at_line(const State& state, const Where& where, int64_t now) {
  const bool text = where.source < state.sources.size() && state.sources[where.source].kind == "text";
  if (!text || where.line == 0) return now;
  uint64_t nearest = 0;
  int64_t step = kNoStep;
  bool behind = false;
  for (const Series& series : state.series) {
    if (series.source != where.source) continue;
    const auto& points = series.points();
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
      if (point->where.line > where.line) {
        behind = true;
        continue;
      }
      if (point->where.line >= nearest && point->step != kNoStep) {
        nearest = point->where.line;
        step = point->step;
      }
      break;
    }
  }
  return behind && step != kNoStep ? step : now;
}

}  // namespace mw
