// What is kept of the calls of one tool. Called by fold() only.
#pragma once

#include "core/state.h"

namespace mw {

/// Counts a call, all but the name of its error.
void count_call(ToolState& tool, const event::ToolCalled& called);

}  // namespace mw
