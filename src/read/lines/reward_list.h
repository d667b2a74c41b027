// The rewards of one group or batch, printed one by one: "rewards: tensor([-1., -1., 0.5])", "Reward = [0, 1, 1]".
// Small training scripts print nothing else of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace mw {

struct RewardList {
  double mean = 0, least = 0, most = 0;
  size_t count = 0;
};

/// Reads the first such list of `text`; nested lists count as one. nullopt when there is none, or it is cut off, or it
/// holds fewer than two numbers, more than kMostRewards, or anything else.
constexpr size_t kMostRewards = 4096;
std::optional<RewardList> read_reward_list(std::string_view text);

}  // namespace mw
