// What midwatch did, in words.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace mw {

/// "2026-02-19T09:08:11Z cleanup /data/core.77 because of #2: why → 1.2 GB freed".
std::string action_text(const ActionState& action);

/// Those done because of an incident, the last few, each in one line with what came of it.
std::vector<std::string> actions_for(const State& state, uint32_t incident);

}  // namespace mw
