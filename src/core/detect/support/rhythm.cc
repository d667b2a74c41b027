#include "core/detect/support/rhythm.h"

#include <algorithm>
#include <vector>

#include "core/step_gaps.h"

namespace mw::detect {
namespace {

constexpr size_t kLately = 16;  // gaps

/// Of at least one value.
double middle_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// When the attempts after the first one began, as far as their clocks say, in order.
std::vector<Time> restarts_of(const State& state) {
  std::vector<Time> restarts;
  for (size_t i = 1; i < state.attempts.size(); ++i) {
    if (state.attempts[i].began.at.known()) restarts.push_back(state.attempts[i].began.at);
  }
  std::sort(restarts.begin(), restarts.end());
  return restarts;
}

bool any_between(const std::vector<Time>& restarts, Time from, Time to) {
  const auto after = std::upper_bound(restarts.begin(), restarts.end(), from);
  return after != restarts.end() && *after <= to;
}

}  // namespace

bool restarted_between(const State& state, Time from, Time to) { return any_between(restarts_of(state), from, to); }

Rhythm rhythm_of(const State& state, Time at, double least) {
  Rhythm rhythm;
  std::vector<double> spans;
  const std::vector<Time> restarts = restarts_of(state);
  size_t begun = 0;  // the first that was heard of the present step: a run may speak of one several times
  for (size_t i = 1; i < state.anchors.size() && state.anchors[i].first <= at; ++i) {
    const auto& [since, before] = state.anchors[begun];
    const auto& [now, step] = state.anchors[i];
    const int64_t steps = step - before;
    const double gap = (now - since).seconds();
    const bool other = steps < 0 || any_between(restarts, since, now);
    if (steps != 0 || other) begun = i;
    if (steps == 0 || other) continue;
    spans.push_back(gap / static_cast<double>(steps));
    rhythm.longest = std::max(rhythm.longest, gap);
  }
  if (static_cast<double>(spans.size()) < least) return {};
  rhythm.gaps = spans.size();
  rhythm.lately = middle_of({spans.end() - static_cast<ptrdiff_t>(std::min(kLately, spans.size())), spans.end()});
  rhythm.usual = middle_of(std::move(spans));
  return rhythm;
}

Rhythm rhythm_by_bar(const State& state, double least) {
  Rhythm rhythm;
  std::vector<double> spans;
  for (const StepGap& gap : gaps_by_bar(state)) {
    if (gap.steps <= 0) continue;
    spans.push_back(gap.seconds / gap.steps);
    rhythm.longest = std::max(rhythm.longest, gap.seconds);
  }
  if (spans.empty() || static_cast<double>(spans.size()) < least) return {};
  rhythm.gaps = spans.size();
  rhythm.lately = middle_of({spans.end() - static_cast<ptrdiff_t>(std::min(kLately, spans.size())), spans.end()});
  rhythm.usual = middle_of(std::move(spans));
  return rhythm;
}

Rhythm rhythm_by_ticks(const State& state, double least) {
  Rhythm rhythm;
  const Tick* begin = nullptr;  // the first tick of the attempt
  const Tick* since = nullptr;  // the first one at its present step
  for (const Tick& tick : state.ticks) {
    if (tick.step == kNoStep || (since != nullptr && tick.step < since->step)) {
      rhythm = {};
      begin = since = nullptr;
    }
    if (tick.step == kNoStep) continue;
    if (begin == nullptr) begin = &tick;
    if (since != nullptr && tick.step == since->step) continue;
    if (since != nullptr) rhythm.longest = std::max(rhythm.longest, (tick.at - since->at).seconds());
    since = &tick;
  }
  if (begin == nullptr || static_cast<double>(since->step - begin->step) < least) return {};
  rhythm.gaps = static_cast<size_t>(since->step - begin->step);
  rhythm.usual = (since->at - begin->at).seconds() / static_cast<double>(since->step - begin->step);
  return rhythm;
}

Standstill standstill(const State& state) {
  constexpr double kNobodyWatched = 60;  // s between two ticks: a watch ticks every ten seconds
  if (state.ticks.empty()) return {};
  const Tick& last = state.ticks.back();
  const Tick* since = &last;
  for (size_t i = state.ticks.size() - 1; i-- > 0;) {
    if (state.ticks[i].step != last.step || (since->at - state.ticks[i].at).seconds() > kNobodyWatched) break;
    since = &state.ticks[i];
  }
  const Tick* spoke = &last;
  while (spoke != since && !spoke->speaks) --spoke;
  return {since->at, (last.at - since->at).seconds(), (last.at - spoke->at).seconds()};
}

}  // namespace mw::detect
