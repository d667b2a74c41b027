// Whether short answers are paid for: a part of the reward that rose as the answers got shorter.
#pragma once

#include <string>

#include "core/detect/detector.h"
#include "core/detect/tools/track.h"

namespace mw::detect {

// They stand in the table of the detector "length-collapse".
inline constexpr Knob kOpposed{"opposed", 0.8, "of the pairs of steps",
                               "Of two steps the one with the longer answers has the lower value", "own"};
inline constexpr Knob kPaysGain{"pays_gain", 0.3, "of its size before", "A part that rises by less pays little", "own"};

/// "reward.component.after_kl_penalty rose from -13 to -1.8 as they got shorter: short answers are rewarded", the part
/// that goes most against the length around the fall of `lengths`; "" where there is none, too few steps show it, or
/// the answers are empty, as those of a dead engine are.
std::string short_pays(const State& state, const Track& lengths, const Rise& fall);

}  // namespace mw::detect
