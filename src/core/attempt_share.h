// What other files had said of an attempt before one of them showed that another had begun. A part of fold().
#pragma once

#include "core/state.h"

namespace mw {

/// The newest attempt began at `since`, by the word of `speaker`, and files that were read before had been taken for
/// files of the attempt before it: what they said at `since` or later, by their own clocks, is of the newest one.
void share_with_newest(State& state, uint32_t speaker, Time since);

/// Where the log of one attempt ends and that of the next begins.
struct LogBoundary {
  uint32_t before = 0, after = 0;           ///< the sources of the two logs
  int64_t last = kNoStep, first = kNoStep;  ///< the last step in the one, and the first in the other
  Time at;                                  ///< between the two; unknown where one has no clock
};

/// The newest attempt has a log of its own, which begins there: the steps from its first one on that other files (a
/// sink that goes on in one file) have of the attempt before are of the newest one, where their clocks do not say
/// otherwise.
/// `documents`: only of those, which are written anew as a whole with each save, and of sinks without a clock.
void share_steps_with_newest(State& state, const LogBoundary& boundary, bool documents = false);

}  // namespace mw
