// What a name alone says of whether a figure is a reward.
#pragma once

#include <string_view>

namespace mw {

/// "reward.component.valid_rate", "reward.component.time", "reward.component.std": how many rewards were valid, how
/// long they took, how far they lie apart.
bool counts_rewards(std::string_view component);

/// "terminal_reward", "env/score", "correct_answers": a trainer's own name of what it may reward.
bool named_like_reward(std::string_view raw);

}  // namespace mw
