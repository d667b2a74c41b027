// In which zone the clock of a log was, by another file of the run that names the zone of its own.
#pragma once

#include <optional>

#include "base/time.h"
#include "core/state.h"

namespace mw {

/// How far the clocks that name no zone are east of UTC: at steps of which a file with a zone (epoch seconds of a sink)
/// has the same figures, they differ from it by the same whole quarters of an hour. nullopt: nothing shows it, they do
/// not differ, or two of them differ otherwise. Of files that were read as if such clocks were UTC.
std::optional<Duration> east_by_steps(const State& state);

}  // namespace mw
