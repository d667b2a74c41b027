// The terminal's answer of replay and attach: status line first, then incidents, curves and tables.
#pragma once

#include <string>

#include "ui/cli/verb.h"

namespace mw {

/// Lines of at most console.width cells (at least kNarrowest), with colours only where the console wants them.
std::string terminal_report(const Replayed& replayed, const Console& console);

/// The status line with its facts below: two or three lines.
std::string terminal_status(const State& state, const Console& console);

/// One incident, a few lines.
std::string terminal_incident(const State& state, const Incident& incident, const Console& console);

/// Signals, where the time goes, tools, formats, checkpoints, warnings: the tables below the incidents.
std::string terminal_tables(const State& state, const Console& console);

}  // namespace mw
