#include "ui/view/step_gaps.h"

namespace mw {

std::vector<StepGap> gaps_by_bar(const State& state) {
  std::vector<StepGap> gaps;
  if (state.attempts.empty()) return gaps;
  const auto& marks = state.attempts.back().bar;
  for (size_t i = 1; i < marks.size(); ++i) {
    gaps.push_back({marks[i].elapsed - marks[i - 1].elapsed, static_cast<double>(marks[i].done - marks[i - 1].done)});
  }
  return gaps;
}

std::vector<StepGap> gaps_by_watch(const State& state) {
  std::vector<StepGap> gaps;
  const Tick* first = nullptr;  // of the attempt
  const Tick* since = nullptr;  // the first at the present step, which began while somebody watched
  for (const Tick& tick : state.ticks) {
    const int64_t step = since != nullptr ? since->step : first != nullptr ? first->step : kNoStep;
    if (tick.step == kNoStep || tick.step < step) {  // another attempt
      gaps.clear();
      first = since = nullptr;
    }
    if (tick.step == kNoStep) continue;
    if (first == nullptr) {
      first = &tick;
    } else if (tick.step > step) {
      if (since != nullptr) gaps.push_back({(tick.at - since->at).seconds(), static_cast<double>(tick.step - step)});
      since = &tick;
    }
  }
  return gaps;
}

}  // namespace mw
