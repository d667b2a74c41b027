// What `midwatch status` shows: how a run that is or was watched stands now, on one screen.
#pragma once

#include <string>

#include "ui/cli/verb.h"

namespace mw {

std::string terminal_standing(const State& state, const RunStanding& standing, const Console& console);

/// One JSON object with a line end, schema midwatch.status/1 (docs/formats/status-json.md).
std::string status_json(const State& state, const RunStanding& standing);

/// Its command goes on, and no midwatch watches it.
bool should_be_watched(const RunStanding& standing);

/// "running", "paused", "waiting", "over", "read-only" (an attached run), …
std::string_view phase_word(const RunStanding& standing);

}  // namespace mw
