#include "core/tool_calls.h"

#include <algorithm>
#include <cmath>

namespace mw {
namespace {

/// Which calls are kept depends on their number alone: the same journal keeps the same ones.
void keep_time(ToolState& tool, double seconds) {
  if (tool.timed++ % tool.every != 0) return;
  if (tool.times.size() >= ToolState::kTimesKept) {
    for (size_t i = 0; i < tool.times.size() / 2; ++i) tool.times[i] = tool.times[2 * i];
    tool.times.resize(tool.times.size() / 2);
    tool.every *= 2;
  }
  tool.times.push_back(static_cast<float>(seconds));
}

}  // namespace

void count_call(ToolState& tool, const event::ToolCalled& called) {
  using Outcome = event::ToolCalled::Outcome;
  ++tool.calls;
  if (called.outcome == Outcome::kOk) ++tool.ok;
  if (called.outcome == Outcome::kModelError) ++tool.model_errors;
  if (called.outcome == Outcome::kEnvironmentError) ++tool.environment_errors;
  if (called.outcome == Outcome::kTimeout) ++tool.timeouts;
  if (called.seconds < 0 || !std::isfinite(called.seconds)) return;
  keep_time(tool, called.seconds);
  if (called.seconds > ToolState::kSlowSeconds) ++tool.slow;
  tool.seconds_sum += called.seconds;
  tool.seconds_max = std::max(tool.seconds_max, called.seconds);
}

}  // namespace mw
