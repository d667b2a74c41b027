// What other files had said of an attempt before one of them showed that another had begun. A part of fold().
#pragma once

#include "core/state.h"

namespace mw {

/// The newest attempt began at `since`, by the word of `speaker`, and files that were read before had been taken for
/// files of the attempt before it: what they said at `since` or later, by their own clocks, is of the newest one.
void share_with_newest(State& state, uint32_t speaker, Time since);

}  // namespace mw
