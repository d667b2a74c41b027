// Whether a reward fell with the first records of an attempt that goes on where an earlier one was: then it is the
// resume that is to be looked at, and no drift of the policy.
#pragma once

#include <string_view>

#include "core/detect/detector.h"
#include "core/detect/tools/track.h"

namespace mw::detect {

/// The cause that names it (knowledge/causes/learning.toml).
inline constexpr std::string_view kOtherWeights = "resumed-other-weights";

/// Where the fall that the finding reports stands at such a place, makes the resume its first cause, for which it
/// speaks more if the reward is where the run began.
void suggest_other_weights(const Track& track, const Point& onset, Finding& finding);

}  // namespace mw::detect
