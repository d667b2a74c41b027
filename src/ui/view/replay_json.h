// The answer of `midwatch replay --json`, schema midwatch.replay/1 (docs/formats/replay-json.md).
#pragma once

#include <string>
#include <vector>

#include "api/requests.h"
#include "core/input_figures.h"
#include "core/state.h"

namespace mw {

/// One JSON object with a line end. `notes`: what was left out and why, in words.
std::string replay_json(const State& state, const InputFigures& input, const std::vector<std::string>& notes = {});
/// Of several runs in one folder, schema midwatch.replays/1: the same for each of them, likewise.
std::string replays_json(const std::vector<FolderRun>& runs);

}  // namespace mw
