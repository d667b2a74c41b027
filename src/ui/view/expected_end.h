// When a run will be over, if it goes on as it has so far.
#pragma once

#include <string>

#include "core/state.h"

namespace mw {

/// Of real runs that were cut at many places (tests/reports/forecast_main.cc), three of four ended within it.
struct ExpectedEnd {
  Time earliest, latest;
  bool known() const { return earliest.known(); }
  Time middle() const { return {earliest.ns + (latest.ns - earliest.ns) / 2}; }
};

/// From the pace of the attempt that goes on, evaluations and saves in it: over all of it, its last half, quarter and
/// ten steps, and as its change between the halves would go on; a tenth earlier to a fifth later, as more runs slow
/// down than speed up. Where the steps have no clock, by the progress bar over them, else by the clock of who watches
/// the run live, else from what the trainer says that a step takes; its evaluations and saves are not in that, so that
/// the latest is a third later. Unknown where the plan or the pace is not known, the run has ended or is paused, or
/// its next step is long overdue.
ExpectedEnd expected_end(const State& state);

/// "2026-01-15T15:00Z to 17:10Z", "2026-01-15T15:00Z to 2026-01-16T02:10Z"; one time where both are the same minute;
/// "" when not known.
std::string expected_end_text(const ExpectedEnd& end);

}  // namespace mw
