// Whether what is asked of the policy changed, by the run's own word or figures: then a lower reward is no collapse.
#pragma once

#include <string>

#include "core/detect/detector.h"
#include "core/detect/tools/track.h"

namespace mw::detect {

// They stand in the table of the detector "reward-collapse".
inline constexpr Knob kHolds{"holds", 0.05, "ratio",
                             "Loss of a measure of skill that is none: what the policy can do holds", "own"};
inline constexpr Knob kSaidBefore{"said_before", 3, "records",
                                  "Before the fall, in which a change of the task or of a penalty explains it", "own"};
inline constexpr Knob kSaidAfter{"said_after", 2, "records", "And after its first record", "own"};
inline constexpr Knob kSaidSeldom{"said_seldom", 0.05, "per record",
                                  "A line that comes more often than that is of the run's routine", "own"};

/// "its log says at step 100: "switching to stage 2"", "curriculum/level went from 1 to 2 at step 101", or
/// "eval/acc went from 0.4 to 0.5 meanwhile"; "" where nothing of that explains a fall that began at index `onset`.
std::string objective_changed(const State& state, const Track& track, size_t onset);

/// Only what a figure of the task says: "stage went from 1 to 2 at step 101".
std::string task_changed(const State& state, const Track& track, size_t onset);

/// Puts those words into a finding of a fall, which is a warning at most then; and no more than a remark where a mean
/// over tasks fell by their shares in it alone.
void soften_by_objective(const State& state, const Track& track, Finding& finding);

}  // namespace mw::detect
