// Records whose rewards did not differ: their gradient comes from a penalty or from rounding, and is no level that the
// gradient of a record which teaches could be compared with.
#pragma once

#include <cstddef>

#include "core/detect/tools/track.h"

namespace mw::detect {

/// Whether any record of the run had none: without one lacks_a_like() is false of all points.
bool some_lacked_spread(const State& state);

/// True where half or more of the `window` records before point `i` of `track` (gradient norms), of those whose spread
/// the run logs, had no spread at all, the point itself had one, and those with a spread, in ten such windows, are
/// fewer than `least` or hold a norm of which the point's is less than `times`.
bool lacks_a_like(const State& state, const Track& track, size_t i, size_t window, size_t least, double times);

}  // namespace mw::detect
