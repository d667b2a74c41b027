// A sink whose axis counts something else than steps (samples, tokens, environment steps), beside a log of the same
// figures.
#pragma once

#include <map>
#include <string>

#include "core/state.h"

namespace mw {

/// What a file calls step `origin + scale * n` is step n.
struct StepAxis {
  int64_t scale = 1, origin = 0;
  int64_t step(int64_t shown) const;
  bool operator==(const StepAxis&) const = default;
};

/// By the paths of files.
using StepAxes = std::map<std::string, StepAxis>;

/// Of sinks: where the figures of a log stand in a sink along another axis, value by value, a straight
/// line leads from the one's steps to the other's. Of files that were read with the steps that they show.
StepAxes other_axes(const State& state);

/// Figures of such a file stand at the steps that the run's own log has for them.
void count_along(const StepAxes& axes, const State& state, Event& event);

}  // namespace mw
