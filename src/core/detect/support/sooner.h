// When a live run stalls sooner than by the time of its steps alone: its rhythm is well known, not a line of work
// comes, and a second witness agrees or the run has shown all its pauses.
#pragma once

#include <optional>
#include <string>

#include "core/detect/detector.h"
#include "core/detect/support/rhythm.h"

namespace mw::detect {

// They stand in the table of the detector "stall".
inline constexpr Knob kRegular{"regular", 20, "gaps", "So many steps were timed before a second witness is heard",
                               "own"};
inline constexpr Knob kWitnessPeriods{"witness_periods", 5, "usual steps",
                                      "What the run does no work for is no slow step: idle processes, a silent engine",
                                      "healthy runs of the data: see docs/decisions/0011"};
inline constexpr Knob kWitnessLeast{"witness_least", 300, "s", "Idle processes may wait for a tool or a remote judge",
                                    "RobustRL: 300 s without activity of the trainer"};
inline constexpr Knob kWitnessLongest{"witness_longest", 2.5, "longest gaps",
                                      "Its own pauses come back, a little longer",
                                      "healthy runs of the data: see docs/decisions/0011"};
inline constexpr Knob kWorked{"worked", 0.2, "processors",
                              "Processes that never used more show nothing by being idle: a client of a remote trainer",
                              "own"};

/// So long must a run have done no step, in seconds, where a second witness agrees. `usual`, `longest`: of its steps.
double witnessed_patience(double usual, double longest);

struct Sooner {
  Time from;        ///< by then all of it was known
  std::string why;  ///< what the second witness shows
};
/// `rhythm`: of all steps. `since`: when the step that it is at began. nullopt: nothing of that holds now.
std::optional<Sooner> stalls_sooner(const State& state, const Rhythm& rhythm, Time since);

/// The same of the run as it is now, where that has held since `at`.
std::optional<Sooner> has_rested_since(const State& state, Time at);

}  // namespace mw::detect
