// What a run logs and midwatch does not understand.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace mw {

/// Sentences for people: a run of some steps shows figures, and none of them was recognised as the reward. They name
/// figures that may be it, and how to say so.
std::vector<std::string> not_seen(const State& state);

}  // namespace mw
