// The step that a source was at where one of its lines stands, of events that are emitted behind it.
#pragma once

#include <cstdint>

#include "core/state.h"

namespace mw {

/// The step of the last record before line `where.line` in its source, when records behind that line were read already:
/// a traceback is emitted when its end is seen, and meanwhile other ranks go on. `now` where none were, or none before
/// it.
int64_t step_at_line(const State& state, const Where& where, int64_t now);

}  // namespace mw
