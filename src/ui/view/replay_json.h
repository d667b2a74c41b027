// The answer of `midwatch replay --json`, schema midwatch.replay/1 (docs/formats/replay-json.md).
#pragma once

#include <cstdint>
#include <string>

#include "core/state.h"

namespace mw {

/// What was read, for the "input" member.
struct InputFigures {
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t lines = 0;
  double seconds = 0;  ///< wall time of the whole replay
};

/// One JSON object with a line end.
std::string replay_json(const State& state, const InputFigures& input);

}  // namespace mw
