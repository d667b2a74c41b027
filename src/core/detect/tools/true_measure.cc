#include "core/detect/tools/true_measure.h"

#include <algorithm>

#include "base/text.h"
#include "core/state.h"

namespace mw::detect {

bool is_true_measure(const Series& series) {
  if (series.signal == "reward.pass_rate") return true;
  if (series.signal.rfind("reward.component.", 0) != 0) return false;
  const std::string name = to_lower(series.raw);
  for (const std::string_view word : {"minus", "gap", "std", "min", "max", "count"}) {
    if (contains(name, word)) return false;  // not a level
  }
  for (const std::string_view word :
       {"correct", "accuracy", "solve", "pass", "true", "gold", "ground", "exact", "outcome", "success", "unit_test"}) {
    if (contains(name, word)) return true;
  }
  return false;
}

bool nothing_was_right(const State& state, uint16_t attempt, int64_t from, int64_t to) {
  return std::any_of(state.series.begin(), state.series.end(), [=](const Series& series) {
    if (!is_true_measure(series)) return false;
    bool any = false;
    for (const Point& point : series.points()) {
      if (point.attempt != attempt || point.step < from || point.step > to) continue;
      if (point.value != 0) return false;
      any = true;
    }
    return any;
  });
}

}  // namespace mw::detect
