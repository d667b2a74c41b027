// Whether a run's processes work, by their use of processors and GPUs beside what they used before.
#pragma once

#include "core/detect/detector.h"
#include "core/state.h"

namespace mw::detect {

// They stand in the tables of the detectors that ask.
inline constexpr Knob kRests{"rests", 0.25, "of its usual processors", "Servers that only poll still use some", "own"};
inline constexpr Knob kWorks{"works", 0.5, "of its usual processors", "Generation and training differ by half", "own"};
inline constexpr Knob kNoWork{"none", 0.05, "processors", "Less is nobody's work", "own"};
inline constexpr Knob kGpuWorks{"gpu", 0.05, "of a GPU's time",
                                "A GPU that runs kernels works, or spins in a collective", "own"};

struct Work {
  enum class Does { kUnknown, kNothing, kAsAlways };
  Does does = Does::kUnknown;
  double before = -1;  ///< processors, the mean of what they used; below 0: not known
  Time from;           ///< of kNothing: since when, by the figures that say so
};
/// What the run's processes do at `at`, beside what they did from `began` to `since`.
Work work_at(const State& state, Time began, Time since, Time at);

}  // namespace mw::detect
