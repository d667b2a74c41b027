#include "read/lines/reward_list.h"

#include <doctest/doctest.h>

#include <string>

namespace mw {

TEST_CASE("rewards that are printed one by one") {
  const auto tensor = read_reward_list("took: 3.5s   rewards: tensor([-1., -1., 0.5, -0.5])");
  REQUIRE(tensor);
  CHECK(tensor->count == 4);
  CHECK(tensor->mean == doctest::Approx(-0.5));
  const auto nested = read_reward_list("Rewards = [[0, 1], [1, 1]]");
  REQUIRE(nested);
  CHECK(nested->mean == doctest::Approx(0.75));
  CHECK(read_reward_list("reward: np.array([0.25 0.75])")->mean == doctest::Approx(0.5));
  CHECK(read_reward_list("rewards: tensor([1., 0.], device='cuda:0')")->count == 2);
}

TEST_CASE("what is no list of rewards") {
  for (const char* text :
       {"rewards: [1.0]", "rewards: [1.0, 2.0", "rewards: ['a', 'b']", "reward_weights: [0.5, 1.0]",
        "rewards: [nan, 1]", "myrewards: [1, 2]", "rewards are given in [1, 2]", "rewards", "reward:"}) {
    CAPTURE(text);
    CHECK_FALSE(read_reward_list(text));
  }
  CHECK_FALSE(read_reward_list(std::string(100, 'x') + " rewards: [1, 2]"));
  CHECK_FALSE(read_reward_list("rewards: [" + std::string(100000, '[')));
}

}  // namespace mw
