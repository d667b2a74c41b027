// Figures by which a trainer counts what failed around it: searches that timed out, tools or a judge that did not
// answer.
#pragma once

#include <optional>
#include <string_view>

#include "core/detect/detector.h"
#include "core/state.h"

namespace mw {
class JudgeMemory;
}

namespace mw::detect {

// They stand in the table of the detector "environment-fault".
inline constexpr Knob kNamedShare{"named_share", 0.2, "per sample",
                                  "Failures by a figure's own name, where there were next to none", "as counted_share"};
inline constexpr Knob kNamedFactor{"named_factor", 5, "x", "Times the most that it was before", "own"};
inline constexpr Knob kRewardFell{"reward_fell", 0.3, "ratio",
                                  "Of the reward's level before: it fell with them, so that it was they", "own"};

/// By its name, does it count failures of what answers the policy, rather than of its own answers?
bool counts_failures(std::string_view name);

/// Such a figure was next to nothing, is far from it in a record and to the end, and the reward fell with it.
std::optional<Finding> failing_figure(const State& state, JudgeMemory& memory);

}  // namespace mw::detect
