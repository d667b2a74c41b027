// What `midwatch status` shows: the state of a run that is or was watched, on one screen.
#pragma once

#include <string>

#include "ui/cli/verb.h"
#include "ui/view/watched.h"

namespace mw {

std::string terminal_run_status(const State& state, const RunStatus& status, const Console& console);

/// One JSON object with a line end, schema midwatch.status/1 (docs/formats/status-json.md).
std::string status_json(const State& state, const RunStatus& status);

/// "running", "paused", "waiting", "over", "read-only" (an attached run), …
std::string_view phase_word(const RunStatus& status);

}  // namespace mw
