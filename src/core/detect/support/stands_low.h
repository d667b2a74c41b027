// Whether a run learns nothing while something else is wrong: without that, waste may be the price of learning.
#pragma once

#include "core/detect/detector.h"
#include "core/state.h"

namespace mw {
class JudgeMemory;
}

namespace mw::detect {

// They stand in the table of the detector "zero-advantage".
inline constexpr Knob kFlat{"flat", 0.05, "ratio",
                            "Gain of the reward meanwhile, of its range: a run that learns may waste half", "own"};
inline constexpr Knob kNear{"near", 0.8, "ratio", "Share of the reward's range above which the data is nearly solved",
                            "DAPO, dynamic sampling"};

/// Does the reward neither come near its ceiling nor rise, by more than `gain` of its range, between two points? No
/// where no reward is known.
bool stands_low(const State& state, JudgeMemory& memory, const Point& from, const Point& to, double gain = kFlat.value);

}  // namespace mw::detect
