// Figures about rewards that are none.
#pragma once

#include <string_view>

namespace mw {

/// "reward.component.valid_rate", "reward.component.time": how many rewards were valid, how long they took.
bool counts_rewards(std::string_view component);

}  // namespace mw
