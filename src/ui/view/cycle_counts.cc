#include "ui/view/cycle_counts.h"

namespace mw {

void CycleCounts::hear(const State& state, const Event& event) {
  const auto* ended = std::get_if<event::PhaseEnded>(&event.body);
  const bool counted = ended != nullptr || std::holds_alternative<event::ToolCalled>(event.body) ||
                       std::holds_alternative<event::FormatJudged>(event.body);
  if (!counted) return;
  int64_t step = ended != nullptr ? ended->step : kNoStep;
  if (step == kNoStep && event.where.source < state.sources.size()) step = state.sources[event.where.source].step;
  if (step == kNoStep && cycle_.from_step != kNoStep) return;  // before the first step that anything spoke of
  if (cycle_.has(Point{step, 0, event.at, event.where, 0})) fold(counts_, event);
}

void CycleCounts::put_into(State& state) const {
  state.tools = counts_.tools;
  state.formats = counts_.formats;
  for (auto phase = state.phases.begin(); phase != state.phases.end();) {
    const auto counted = counts_.phases.find(phase->first);
    if (counted == counts_.phases.end()) {
      phase = state.phases.erase(phase);
      continue;
    }
    std::vector<Point> ends = std::move(phase->second.ends);  // which know their steps
    phase->second = counted->second;
    (phase++)->second.ends = std::move(ends);
  }
}

}  // namespace mw
