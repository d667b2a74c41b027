#include "ui/view/cycle_counts.h"

#include <algorithm>

namespace mw {

void CycleCounts::hear(const State& state, const Event& event) {
  const auto* ended = std::get_if<event::PhaseEnded>(&event.body);
  const auto* logged = std::get_if<event::Logged>(&event.body);
  const bool counted = ended != nullptr || logged != nullptr || std::holds_alternative<event::ToolCalled>(event.body) ||
                       std::holds_alternative<event::FormatJudged>(event.body);
  if (!counted) return;
  int64_t step = ended != nullptr ? ended->step : kNoStep;
  if (step == kNoStep && event.where.source < state.sources.size()) step = state.sources[event.where.source].step;
  if (step == kNoStep && cycle_.from_step != kNoStep) return;  // before the first step that anything spoke of
  if (!cycle_.has(Point{step, 0, event.at, event.where, 0})) return;
  if (logged == nullptr) return fold(counts_, event);
  const uint64_t key = (static_cast<uint64_t>(event.where.source) << 32) | logged->pattern;
  if (const auto known = state.template_index.find(key); known != state.template_index.end())
    warnings_.try_emplace(key, FirstWarning{logged->count, state.templates[known->second].last});
}

void CycleCounts::put_into(State& state) const {
  state.tools = counts_.tools;
  state.formats = counts_.formats;
  for (const auto& [key, first] : warnings_) {
    const auto known = state.template_index.find(key);
    if (known == state.template_index.end()) continue;
    TemplateState& warning = state.templates[known->second];
    warning.count -= std::min(warning.count - 1, first.count - 1);
    warning.first = first.moment;
  }
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
