// Two runs that write to one file at once, by the figures of their records: steps, or the epochs of records that name
// no step, go to and fro between two chains, each of which rises, and where both have been at one their figures differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/detect/detector.h"

namespace mw::detect {

// They stand in the tables of the detectors that ask.
inline constexpr Knob kTurns{"turns", 10, "times", "The counter goes back to the lower chain", "own"};
inline constexpr Knob kBack{"back", 3, "steps", "Records of one run may come out of turn by fewer",
                            "kStepSlack, core/attempts.h"};
inline constexpr Knob kShared{"shared", 5, "steps", "That both chains have been at", "own"};
inline constexpr Knob kDiffer{"differ", 0.8, "ratio", "Of those, by more than console and file round",
                              "core/mixed_runs.cc"};
inline constexpr Knob kStray{"stray", 0.05, "ratio", "Of the records, that are of neither chain", "own"};
inline constexpr Knob kSignals{"signals", 2, "signals", "Which differ so, of those that tell runs apart", "own"};

/// What the series of one file show.
struct TwoWriters {
  size_t signals = 0;  ///< that show it
  Point onset, detected;
  std::string heads;  ///< where both were by then: "12 and 40"
  std::string names;
  bool by_epochs = false;
};
/// The files to which two runs write, by the number of their source.
std::map<uint32_t, TwoWriters> two_writers(const State& state);

}  // namespace mw::detect
