// A reward that stands where it began: long enough to have learned, or to the end of a shorter run.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "core/detect/detector.h"
#include "core/state.h"

namespace mw {
class JudgeMemory;
}

namespace mw::detect {

// They stand in the table of the detector "no-learning".
inline constexpr Knob kSteps{"steps", 200, "steps", "A reward that learns shows it within this",
                             "field guide 4.3 rule 5: 76 % of the gain in the first 200 steps"};
inline constexpr Knob kPoints{"points", 30, "points", "And so many records", "own"};
inline constexpr Knob kGain{"gain", 0.05, "ratio", "Of the reward's range, between first and last third", "own"};
inline constexpr Knob kPower{
    "power", 0.25, "ratio", "Of the reward's range: standard error of the gain above which nothing can be said", "own"};
inline constexpr Knob kSolved{"solved", 0.9, "ratio", "Of the reward's range: nothing left to learn", "own"};
inline constexpr Knob kHigh{"high", 0.7, "ratio",
                            "Of the reward's range: so much is reached that a flat reward is information", "own"};
inline constexpr Knob kTiny{"tiny", 0.025, "ratio", "Of the reward's range: a gain that is none, however steady",
                            "own"};
inline constexpr Knob kRelative{
    "relative", 0.1, "ratio",
    "Of its first third's height above the floor: a reward that keeps low figures rose by this", "own"};
inline constexpr Knob kSure{"sure", 4, "sigma", "And that rise is so many standard errors", "own"};
inline constexpr Knob kLearned{"learned", 0.1, "ratio",
                               "Of the reward's range: a later gain that takes the verdict back", "own"};
inline constexpr Knob kNoRise{"no_rise", 1.64, "sigma",
                              "Mann-Kendall score up to which a short run that is over shows no rise",
                              "one chance in twenty, one-sided (Mann 1945)"};
inline constexpr Knob kOnFloor{"on_floor", 0.8, "ratio",
                               "Of a short run's records on the lowest value: zero-reward's to report", "own"};
inline constexpr Knob kOfPlan{"of_plan", 0.9, "ratio", "A run that ended before was not done learning", "own"};
inline constexpr Knob kGrowth{"growth", 1.3, "x", "The judgement is made anew each time the run is longer by this",
                              "own"};

inline constexpr Knob kLateStart{"late_start", 50, "steps",
                                 "Where the first record is of a later one, it learned before what nobody saw", "own"};
inline constexpr Knob kLateRecords{"late_records", 3, "records", "And so many records would stand before it", "own"};

/// Highest mean of `width` values in a row; the first above `enough` where there is one.
double highest_mean(std::span<const double> values, size_t width,
                    double enough = std::numeric_limits<double>::infinity());

/// The reward that the run trains on does not get better. Whether it was said.
bool judge_flat(const State& state, JudgeMemory& memory, std::vector<Finding>& out);

}  // namespace mw::detect
