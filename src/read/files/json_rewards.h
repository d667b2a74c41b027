// The rewards of a group that a JSON record lists one by one: {"step": 3, "rewards": [1.0, 0.0, 1.0]}.
#pragma once

#include <string_view>

#include "read/files/row_builder.h"

namespace mw {

/// Adds what the record's own list "rewards" comes to, as text logs have it: "reward" (the mean), "reward_max",
/// "reward_min", and "reward_std", where no number of the record is one of the reward; without the mean where the only
/// one is that mean. Nested lists count as one. Of text, of one number, and of more than kMostRewards nothing is made.
void add_listed_rewards(std::string_view json, RowBuilder& row);

}  // namespace mw
