// What the processes of a run did when an incident was seen: evidence that a live watch collected, as an action of
// its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// The action, as the journal names it. Its target is the process, its outcome what the process did.
inline constexpr std::string_view kCollectEvidence = "collect-evidence";

/// Of one incident, one for each process, in order.
std::vector<const ActionState*> collected(const State& state, uint32_t incident);

/// "train.py (pid 4711): 34 threads, the main thread waits in …".
std::string collected_line(const ActionState& action);

}  // namespace mw
