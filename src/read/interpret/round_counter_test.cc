// Where a trainer writes the reward in a line of its own, beside that of the update.
#include "read/interpret/round_counter.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/not_seen.h"
#include "read/interpret/unread_reward.h"
#include "read/testing/whole_log.h"

namespace mw {
namespace {

/// A log of so many steps; `line` makes the line of a step's rewards, `often` times.
template <typename Line>
State log_of(int steps, const Line& line, int often = 1) {
  std::string text;
  for (int step = 1; step <= steps; ++step) {
    for (int i = 0; i < often; ++i) text += line(step);
    text += cat("[update ", step, "/300] kl: 0.01", step % 7, ", grad_norm: 0.5", step % 9, ", loss: 0.0", step % 8 + 1,
                "\n");
  }
  return state_of(text);
}

size_t rewards(const State& state) {
  const Series* const reward = state.find("reward.mean");
  return reward == nullptr ? 0 : reward->count();
}

TEST_CASE("a line a step with the rollouts' reward is the trainer's once it is seen to go with the steps") {
  const auto labelled = [](int step) {
    return cat("[rollout ", step, "] reward: 0.3", step % 5 + 1, ", response_len: 412\n");
  };
  const State state = log_of(40, labelled);
  CHECK(rewards(state) >= 35);
  CHECK(state.find("reward.mean")->points().back().step == 40);
  CHECK(not_seen(state).empty());
  CHECK(rewards(log_of(40, [](int step) {
          return cat("Rollout ", step, ": mean reward 0.3", step % 5 + 1, ", 64 samples\n");
        })) >= 35);
  CHECK(rewards(log_of(
            40, [](int step) { return cat("rollout ", step - 1, "/300: reward=0.3", step % 5 + 1, "\n"); })) >= 35);
}

TEST_CASE("a rollout that is one of many within a step, or one answer's, is none of the trainer's") {
  int count = 0;
  const auto many = [&count](int /*step*/) {
    ++count;
    return cat("[rollout ", count, "] reward: 0.3", count % 5 + 1, "\n");
  };
  CHECK(rewards(log_of(40, many, 8)) == 0);
  const auto again = [](int step) { return cat("[rollout ", step, "] reward: 0.3", step % 5 + 1, "\n"); };
  CHECK(rewards(log_of(40, again, 8)) == 0);
  const auto single = [](int step) { return cat("[rollout ", step, "] reward: ", step % 2, ".0\n"); };
  CHECK(rewards(log_of(40, single)) == 0);
}

TEST_CASE("where the reward is in lines that are no records, a sentence says so") {
  int count = 0;
  const auto many = [&count](int /*step*/) {
    ++count;
    return cat("[rollout ", count, "] reward: 0.3", count % 5 + 1, "\n");
  };
  const std::vector<std::string> said = not_seen(log_of(40, many, 8));
  REQUIRE(said.size() == 1);
  CHECK(contains(said[0], "[rollout "));
  CHECK(not_seen(log_of(1, many, 8)).empty());
  const auto none = [](int step) { return cat("[rollout ", step, "] 64 samples in 12.5 s\n"); };
  CHECK(not_seen(log_of(40, none)).empty());
}

TEST_CASE("a reward with its value, and a word of rewards in a sentence") {
  const auto seen = [](std::string_view text) {
    UnreadReward unread;
    bool once = false;
    for (int i = 0; i < 30; ++i) once = unread.saw(text) || once;
    return once;
  };
  for (const char* line :
       {"sampled 64, reward: 0.25", "mean_reward=0.5 of 64", "  reward 0.25", "rewards: mean 0.31 std 0.2"}) {
    CAPTURE(std::string(line));
    CHECK(seen(line));
  }
  for (const char* line : {"the reward is high", "reward workers: 4", "reward model loaded in 3.5 s", "forward 0.25"}) {
    CAPTURE(std::string(line));
    CHECK_FALSE(seen(line));
  }
}

TEST_CASE("a dict that is printed with a key to a line") {
  std::string text;
  for (int step = 1; step <= 20; ++step) {
    text += cat("{'grad_norm': 0.5,\n 'kl': 0.01,\n 'loss': 0.0", step % 8 + 1, ",\n 'reward': 0.", 20 + step,
                ",\n 'step': ", step, "}\n");
  }
  const State state = state_of(text);
  CHECK(rewards(state) == 20);
  CHECK(state.steps().last == 20);
}

TEST_CASE("values that stand indented and without a colon below a step's line") {
  std::string text;
  for (int step = 1; step <= 20; ++step) {
    text += cat("step ", step, "/300\n  reward 0.", 20 + step, "\n  loss 0.0", step % 8 + 1, "\n  grad_norm 0.5\n");
  }
  CHECK(rewards(state_of(text)) == 20);
}

}  // namespace
}  // namespace mw
