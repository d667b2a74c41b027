#include "daemon/step_rhythm.h"

#include <algorithm>

namespace mw {

void StepRhythm::look(const State& state, Duration now) {
  if (state.attempts.empty()) return;
  const int64_t step = state.attempts.back().last_step;
  // What was there when the watch began, and the start of an attempt, are no steps that were seen to take their time.
  const bool fresh = attempt_ != state.attempts.size() || step_ == kNoStep;
  if (!fresh && step <= step_) return;
  if (!fresh) {
    const double gap = Duration{now.ns - at_.ns}.seconds();
    const double span = gap / static_cast<double>(step - step_);
    if (spans_.size() < kKept) {
      spans_.push_back(span);
    } else {
      spans_[next_++ % kKept] = span;
    }
    longest_ = std::max(longest_, gap);
  }
  attempt_ = state.attempts.size();
  step_ = step;
  at_ = now;
}

double StepRhythm::usual() const {
  if (!known()) return 0;
  std::vector<double> sorted = spans_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace mw
