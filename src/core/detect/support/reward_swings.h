// Falls of the reward that are made good: one that was brief, and a reward that falls and comes back time and again.
#pragma once

#include <cstddef>
#include <vector>

#include "core/detect/detector.h"
#include "core/detect/tools/track.h"

namespace mw::detect {

// They stand in the table of the detector "reward-collapse".
inline constexpr Knob kBrief{"brief", 10, "points",
                             "A fall that was made good within so many points is history, not a danger", "own"};
inline constexpr Knob kBriefShare{"brief_share", 0.1, "ratio", "Or within this share of the steps up to there", "own"};
inline constexpr Knob kSwings{"swings", 3, "falls",
                              "So many that were made good are how a reward swings (long episodes, of which a record "
                              "has few): none of them harmed the run",
                              "own"};
inline constexpr Knob kSwingTimes{
    "swing_times", 2, "x", "As long as the longest of those a fall may last that is no more than one of them", "own"};

/// A fall from index `onset` on that was made good by index `back`: too short to have cost the run anything?
bool brief(size_t onset, size_t back);

/// Makes information of the falls of one track, in the order of their onsets, where it swings.
void soften_swings(const Track& track, std::vector<Finding>& falls);

}  // namespace mw::detect
