#include "sense/processes/rhythm.h"

#include <algorithm>
#include <vector>

namespace mw::components {

void Rhythm::saw(size_t attempt, int64_t step, Duration now) {
  if (attempt != attempt_) {
    attempt_ = attempt;
    step_ = INT64_MIN;
    steps_ = 0;
    last_ = {};  // the spans stay: the next attempt trains as the one before
  }
  if (step == step_ || step == INT64_MIN) return;
  const int64_t done = step_ == INT64_MIN || step < step_ ? 1 : step - step_;
  if (steps_ > 0 && last_.ns > 0 && step > step_) {
    spans_.push_back((now.ns - last_.ns) / done);
    ++timed_;
    longest_.ns = std::max(longest_.ns, now.ns - last_.ns);
    if (spans_.size() > kKept) spans_.pop_front();
  }
  step_ = step;
  steps_ += done;
  last_ = now;
}

Duration Rhythm::usual() const {
  if (spans_.size() < kLeast) return {};
  std::vector<int64_t> sorted(spans_.begin(), spans_.end());
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return {*middle};
}

bool Rhythm::waits(Duration then, Duration now, Duration least, double times, Duration unknown) const {
  const int64_t idle = now.ns - std::max(then.ns, last_.ns);
  const Duration step = usual();
  const int64_t asked =
      step.ns > 0 ? std::max(least.ns, static_cast<int64_t>(times * static_cast<double>(step.ns))) : unknown.ns;
  return idle >= asked;
}

}  // namespace mw::components
