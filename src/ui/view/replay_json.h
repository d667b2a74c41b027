// The answer of `midwatch replay --json`, schema midwatch.replay/1 (docs/formats/replay-json.md).
#pragma once

#include <string>

#include "core/input_figures.h"
#include "core/state.h"

namespace mw {

/// One JSON object with a line end.
std::string replay_json(const State& state, const InputFigures& input);

}  // namespace mw
