// Which names of figures count the optimizer's steps, whatever their author called them.
#pragma once

#include <string_view>

namespace mw {

/// "grpo_step", "globalStep", "policy/update", "Iteration", "num_updates": one word that counts updates of the weights,
/// and beside it only words that say of what they are. "env_step", "step_time", "num_steps", "total_steps" are none.
bool counts_updates(std::string_view name);

/// How well a name does for the axis of a file that has no step, 0 being best; -1: not at all. "batch_index", "round",
/// "timesteps", "episode": they count something else than updates of the weights, and rise with them.
int axis_rank(std::string_view name);

/// "steps": beside the number of an episode it may be that episode's length.
bool may_be_length(std::string_view name);
bool names_episode(std::string_view name);

}  // namespace mw
