// Which names of figures count the optimizer's steps, whatever their author called them.
#pragma once

#include <string_view>

namespace mw {

/// "grpo_step", "globalStep", "policy/update", "Iteration", "num_updates": one word that counts updates of the weights,
/// and beside it only words that say of what they are. "env_step", "step_time", "num_steps", "total_steps" are none.
bool counts_updates(std::string_view name);

}  // namespace mw
