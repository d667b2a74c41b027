// The terminal's answer of replay and attach: status line first, then incidents, curves and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/cli/verb.h"

namespace mw {

class Painter;

/// Lines of at most console.width cells (at least kNarrowest), with colours only where the console wants them.
std::string terminal_report(const Replayed& replayed, const Console& console);

/// The same on one screen, about 25 lines: how it stands, each incident with its cause and what to do, what midwatch
/// decided, the curves of what went wrong. `more` is the command line that shows everything.
std::string terminal_brief(const Replayed& replayed, const Console& console, std::string_view more);

/// Of several runs in one folder: each with its status line, its path and facts, and how to see one of them.
std::string terminal_runs(const Replayed& replayed, std::string_view folder, const Console& console);

/// The status line with its facts below: two or three lines.
std::string terminal_status(const State& state, const Console& console);

/// One incident, a few lines.
std::string terminal_incident(const State& state, const Incident& incident, const Console& console);

/// "#1 crash  critical, since step 7", a line: `grade` stands before "since".
std::string incident_title(const Painter& paint, const State& state, const Incident& incident,
                           std::string_view grade = "");
std::string no_incident(const Painter& paint);

/// Curves of those of the `names` that have one, at most `most`, `rows` lines each, under a heading; "" when there is
/// none.
std::string terminal_curves(const State& state, const Console& console, const std::vector<std::string>& names,
                            size_t most, size_t rows);

/// What midwatch decided in a run that it supervised; "" when it supervised none.
std::string terminal_decisions(const State& state, const Console& console);

/// Where the run is now; "" when it is over.
std::string terminal_now(const State& state, const Console& console);

/// The last steps side by side, at most `rows` signals; "" when no step reported a figure.
std::string terminal_steps(const State& state, const Console& console, size_t rows);

/// The last held-out evaluations side by side, at most `rows` results; "" when there was none.
std::string terminal_evaluations(const State& state, const Console& console, size_t rows);

/// "" when there was only one attempt; "" when no checkpoint was seen.
std::string terminal_attempts(const State& state, const Console& console);
std::string terminal_checkpoints(const State& state, const Console& console);

/// Signals whose curve shows how the run goes: the reward, else what stands for it.
std::vector<std::string> leading_signals(const State& state);

/// "read 2 files, 3 MB, 1234 lines in 20 ms"
std::string terminal_input(const Replayed& replayed);

/// Signals, where the time goes, tools, formats, checkpoints, warnings: the tables below the incidents.
std::string terminal_tables(const State& state, const Console& console);

}  // namespace mw
