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

}  // namespace mw
