// A reward that lay on its floor for long: is it back?
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/detect/detector.h"
#include "core/detect/tools/track.h"

namespace mw::detect {

// They stand in the table of the detector "zero-reward".
inline constexpr Knob kHeld{"held", 10, "points",
                            "After a long stretch on the floor the reward is back once the mean of so many records "
                            "reaches `held_share`: some good records among zeros are no recovery",
                            "reports of runs that never recovered; reward-collapse, width"};
inline constexpr Knob kHeldShare{"held_share", 0.5, "ratio", "Of the height above the floor before the stretch",
                                 "own; a steady half is reward-collapse's to report"};

inline constexpr Knob kBack{"recovered", 3, "points", "Points off the floor in a row that end the streak for good",
                            "hysteresis"};
inline constexpr Knob kSingles{"singles", 0.9, "ratio",
                               "Of the records on the floor: single ones above it end no stretch", "own"};
inline constexpr Knob kLong{
    "long", 20, "points",
    "A curriculum, a harder data set or a phase of evaluation gives nothing for some steps, and then again "
    "something: without a second sign it is grave only when it lasts",
    "circuit breakers of the reports stop at 10 to 50"};

/// Records in a row on the floor.
struct Streak {
  size_t first = 0, detected = 0;
  bool from_start = false;
};

/// The records from the streak's first on, as long as hardly one leaves the floor and nothing recovers.
struct Stretch {
  size_t last = 0;         ///< on the floor
  size_t on_floor = 0;     ///< of the records first..last
  std::vector<size_t> at;  ///< their indices
};

Stretch stretch_of(const Track& track, const Streak& streak);

/// The reward's height above its floor in the records right before a long streak: what the streak took away.
/// nullopt where the streak is short or began the run, or where most records before lay on the floor as well.
std::optional<double> lost_height(const Track& track, const Streak& streak);

/// The record by which the streak is over for good. What was lost for long is back when it holds near its level.
std::optional<size_t> back_at(const Track& track, const Streak& streak);

/// What came after the streak, in words, where that is not what was lost; empty where nothing was, or nothing came.
std::string not_back_words(const Track& track, const Streak& streak);

}  // namespace mw::detect
