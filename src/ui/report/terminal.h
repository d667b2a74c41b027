// The terminal's answer of replay and attach: status line first, then incidents, curves and tables.
#pragma once

#include <string>

#include "ui/cli/verb.h"

namespace mw {

std::string terminal_report(const Replayed& replayed, const Console& console);

/// One incident, a few lines.
std::string terminal_incident(const State& state, const Incident& incident, const Console& console);

}  // namespace mw
