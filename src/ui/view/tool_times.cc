#include "ui/view/tool_times.h"

#include <algorithm>
#include <cmath>

namespace mw {

double time_quantile(const ToolState& tool, double share) {
  if (tool.times.empty()) return 0;
  std::vector<float> times = tool.times;
  std::sort(times.begin(), times.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(times.size())));
  return static_cast<double>(times[std::clamp<size_t>(rank, 1, times.size()) - 1]);
}

uint64_t calls_over(const ToolState& tool, double seconds) {
  if (tool.times.empty()) return 0;
  const auto over = std::count_if(tool.times.begin(), tool.times.end(),
                                  [seconds](float time) { return static_cast<double>(time) > seconds; });
  const double share = static_cast<double>(over) / static_cast<double>(tool.times.size());
  return static_cast<uint64_t>(std::llround(share * static_cast<double>(tool.timed)));
}

}  // namespace mw
