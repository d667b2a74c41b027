#include "core/step_gaps.h"

#include <algorithm>

namespace mw {
namespace {

constexpr size_t kPaceGaps = 20;     // the last ones
constexpr double kOtherClock = 1.5;  // times what the clocks show: no step takes so long by them

/// Of the attempt that goes on, by the clocks of its steps.
std::vector<StepGap> gaps_by_clock(const State& state) {
  const auto& anchors = state.anchors;
  const Time began = state.attempts.empty() ? Time{} : state.attempts.back().began.at;
  size_t first = anchors.size();
  while (first > 0 && (first == anchors.size() || anchors[first - 1].second < anchors[first].second) &&
         (!began.known() || anchors[first - 1].first >= began)) {
    --first;
  }
  std::vector<StepGap> gaps;
  for (size_t i = first + 1; i < anchors.size(); ++i) {
    gaps.push_back({(anchors[i].first - anchors[i - 1].first).seconds(),
                    static_cast<double>(anchors[i].second - anchors[i - 1].second)});
  }
  return gaps;
}

}  // namespace

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

std::vector<StepGap> step_gaps(const State& state) {
  std::vector<StepGap> gaps = gaps_by_clock(state);
  if (gaps.size() < kLeastGaps) gaps = gaps_by_bar(state);
  if (gaps.size() < kLeastGaps) gaps = gaps_by_watch(state);
  if (gaps.size() < kLeastGaps) gaps.clear();
  return gaps;
}

double clock_pace(const State& state) {
  const std::vector<StepGap> gaps = step_gaps(state);
  double seconds = 0, steps = 0;
  for (size_t i = gaps.size() - std::min(gaps.size(), kPaceGaps); i < gaps.size(); ++i) {
    seconds += gaps[i].seconds;
    steps += gaps[i].steps;
  }
  return steps > 0 ? seconds / steps : 0;
}

double forecast_pace(const State& state, double stated) {
  const double clock = clock_pace(state);
  if (clock <= 0) return stated;
  return stated > kOtherClock * clock || kPartOfStep * stated < clock ? clock : stated;
}

}  // namespace mw
