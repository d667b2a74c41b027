// Two runs, side by side by step.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"
#include "ui/view/overview.h"

namespace mw {

struct ComparedMetric {
  std::string name, unit;
  int64_t common_steps = 0;       ///< steps that both show
  double a_mean = 0, b_mean = 0;  ///< over the common steps, else over all
  double a_last = 0, b_last = 0;
  bool takes_both_signs = false;       ///< of such a figure a change in per cent says nothing
  int64_t first_difference = kNoStep;  ///< first common step whose values differ by more than 5 % of the range
  std::vector<Point> a, b;
};
struct ComparedSetting {
  std::string key, a, b;
};
struct Comparison {
  std::vector<ComparedMetric> metrics;
  std::vector<ComparedSetting> settings;  ///< only those that differ
};
Comparison compare(const State& a, const State& b);

struct ComparedStep {
  int64_t step = kNoStep;
  double a = 0, b = 0;
};
/// Steps that both have, with their values: at most `most` (2 or more), evenly spread, the first and the last among
/// them, and besides the step at which they part.
std::vector<ComparedStep> side_by_side(const ComparedMetric& metric, size_t most);

/// A view of one attempt of a run as if it were a run of its own (for comparing attempts): its figures, its incidents,
/// how it ended. `attempt` counts from 1.
State attempt_of(const State& state, size_t attempt);

/// `state` with only the measurements of a cycle.
State since(State state, const Cycle& cycle);

}  // namespace mw
