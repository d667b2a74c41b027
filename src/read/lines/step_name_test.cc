#include "read/lines/step_name.h"

#include <doctest/doctest.h>

#include <string>

namespace mw {
namespace {

TEST_CASE("names that count the optimizer's steps, whatever their author called them") {
  for (const char* name : {"grpo_step",          "ppo_step",      "rl_step",       "policy_step",
                           "grad_step",          "gradient_step", "optim_step",    "learner_step",
                           "globalStep",         "GlobalStep",    "STEP",          "Iteration",
                           "trainStep",          "policy_update", "global_update", "train/update",
                           "step/train",         "updates",       "num_updates",   "n_updates",
                           "training_iteration", "outer step",    "update_step",   "step_number"}) {
    CAPTURE(std::string(name));
    CHECK(counts_updates(name));
  }
  for (const char* name :
       {"env_step",         "agent_step",  "step_time",    "time/step",  "num_steps",    "n_steps_per_rollout",
        "total_steps",      "eval_step",   "val/step",     "micro_step", "inner_step",   "step_idx",
        "steps_per_second", "step_reward", "loss",         "updated",    "stepped",      "actor_update",
        "weight_update",    "global",      "train",        "stepsize",   "update_ratio", "",
        "step step step",   "step(s)",     "max_iteration"}) {
    CAPTURE(std::string(name));
    CHECK_FALSE(counts_updates(name));
  }
}

TEST_CASE("what else may be an axis, best first") {
  CHECK(axis_rank("batch_index") >= 0);
  CHECK(axis_rank("batch_index") < axis_rank("timesteps"));
  CHECK(axis_rank("timesteps") < axis_rank("episode"));
  for (const char* name : {"batch_size", "episode_reward", "episode_length", "max_episodes", "step", "epoch", ""}) {
    CAPTURE(std::string(name));
    CHECK(axis_rank(name) < 0);
  }
}

}  // namespace
}  // namespace mw
