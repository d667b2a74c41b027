// What a run logs and midwatch does not understand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// event::SourceProblem::problem where lines that seem to hold the reward are read as no record.
inline constexpr std::string_view kUnreadReward = "reward-unread";

/// Sentences for people: a run of some steps shows figures, and none of them was recognised as the reward. They name
/// figures that may be it, and how to say so.
std::vector<std::string> not_seen(const State& state);

}  // namespace mw
