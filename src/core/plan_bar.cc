#include "core/plan_bar.h"

#include <algorithm>

#include "base/text.h"

namespace mw {
namespace {

/// Its title says what a bar goes over; that of Transformers' Trainer has none.
bool over_steps(std::string_view title) {
  return title.empty() || contains_folded(title, "train") || contains_folded(title, "step");
}

}  // namespace

int64_t done_by_bar(const State& state) {
  if (state.attempts.empty()) return kNoStep;
  const AttemptState& attempt = state.attempts.back();
  const int64_t total = attempt.total_steps > 0 ? attempt.total_steps : state.total_steps;
  // A bar is kept by its title alone: it is the last attempt's only where that has gone on under it.
  if (total <= 1 || (state.attempts.size() > 1 && attempt.last_step == kNoStep)) return kNoStep;
  int64_t done = kNoStep;
  for (const auto& [title, bar] : state.progress) {
    const int64_t step = attempt.first_step == 0 ? bar.done - 1 : bar.done;  // its records count from 0
    const bool further = bar.total == total && bar.done > 0 && bar.done <= total && step > attempt.last_step;
    if (further && over_steps(title)) done = std::max(done, step);
  }
  return done;
}

}  // namespace mw
