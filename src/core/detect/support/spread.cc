#include "core/detect/support/spread.h"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/detect/tools/stats.h"

namespace mw::detect {

Track spread_of(const Track& most, const Track& least) {
  Track spread;
  size_t at = 0;
  for (size_t i = 0; i < most.size(); ++i) {
    const Point& point = most.points[i];
    while (at < least.size() && least.points[at].step < point.step) ++at;
    if (at == least.size()) break;
    if (least.points[at].step != point.step || least.points[at].attempt != point.attempt) continue;
    spread.points.push_back(point);
    spread.values.push_back(most.values[i] - least.values[at]);
    spread.points.back().value = spread.values.back();
  }
  spread.series = most.series;
  return spread;
}

Track uniform_in(Track spread) {
  for (size_t i = 0; i < spread.size(); ++i) {
    spread.values[i] = spread.points[i].value = spread.values[i] == 0 ? 1 : 0;
  }
  return spread;
}

Track uniform_steps(const Track& spread, double steps, size_t width) {
  Track uniform = uniform_in(spread);
  const std::vector<double> whole = uniform.values;
  for (size_t i = 0; i < uniform.size(); ++i) {
    const size_t from = i + 1 > width ? i + 1 - width : 0;
    const double share = mean(std::span<const double>(whole).subspan(from, i + 1 - from));
    uniform.values[i] = uniform.points[i].value = share > 0 ? std::pow(share, 1 / steps) : 0;
  }
  return uniform;
}

std::optional<bool> rewards_differ(const State& state, uint16_t attempt, int64_t from, int64_t to) {
  constexpr double kUniform = 0.95;  // as zero-advantage
  const auto level = [&](std::string_view signal) { return level_between(state.find(signal), attempt, from, to); };
  if (const auto uniform = level("reward.zero_std_groups")) return *uniform < kUniform;
  for (const std::string_view signal : {"advantage.std", "reward.std"}) {
    if (const auto spread = level(signal)) return *spread > 0;
  }
  const auto most = level("advantage.max"), least = level("advantage.min");
  return most && least ? std::optional(*most > *least) : std::nullopt;
}

}  // namespace mw::detect
