#include "core/step_done.h"

#include <algorithm>
#include <optional>

#include "core/host_figures.h"

namespace mw {
namespace {

/// Figures that come whether or not anybody trains: an engine's, and a sink's own of the machine.
bool comes_without_steps(const Series& series) {
  return series.signal.starts_with("engine.") || of_machine(series.raw);
}

/// The latest time of the step's figures in it; nullopt: it has none of that step.
std::optional<Time> latest_at(const State& state, const Series& series, int64_t step) {
  std::optional<Time> at;
  for (auto point = series.points().rbegin(); point != series.points().rend() && point->step >= step; ++point) {
    if (point->step == step && point->attempt + 1U == state.attempts.size())
      at = std::max(at.value_or(Time{}), point->at);
  }
  return at;
}

}  // namespace

Time done_at(const State& state, int64_t step) {
  std::optional<Time> known, unknown;  // by figures whose meaning is known, and by others, which may be an engine's
  for (const Series& series : state.series) {
    if (comes_without_steps(series)) continue;
    const auto at = latest_at(state, series, step);
    std::optional<Time>& latest = series.signal.empty() ? unknown : known;
    if (at) latest = std::max(latest.value_or(Time{}), *at);
  }
  return known ? *known : unknown.value_or(Time{});
}

}  // namespace mw
