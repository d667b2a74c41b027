// Where a run is now: its phase, what comes next and when, and what a crash would cost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

struct NowLine {
  std::string what;  ///< "Phase", "Next step", "Next save", "Next evaluation", "A crash would cost", "Saving",
                     ///< "Entropy"
  std::string text;
};
/// Only what the run's files show; empty of a run that is over or never did a step. `now`: when this is shown, of a run
/// that is watched; unknown: its files are all there is.
std::vector<NowLine> run_now(const State& state, Time now = {});

/// "Now", or "Where it stood at the end of these files" of a run that is not known to go on.
std::string_view now_heading(const State& state);

}  // namespace mw
