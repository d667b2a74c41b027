// A state as text, every field of it, so that two can be compared and a difference be read.
#pragma once

#include <string>

#include "core/state.h"

namespace mw::sim {

std::string state_text(const State& state);

/// One line per incident: what it says, without its number; sorted.
std::string incidents_text(const std::vector<Incident>& incidents);

}  // namespace mw::sim
