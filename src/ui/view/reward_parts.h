// The parts of a reward that a run logs for each rollout: pass rates, ranges and totals, over the run and by batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/state.h"
#include "ui/view/overview.h"

namespace mw {

/// Rollouts that were scored, and what they got.
struct RewardCount {
  uint64_t count = 0;
  double sum = 0, min = 0, max = 0;
  void add(double value);
};

struct RewardPart {
  std::string name;                  ///< "gt_reward"
  bool passes = false;               ///< every rollout got 0 or 1: the sum is how many passed
  RewardCount all, cycle;            ///< over the whole run; since the cycle began
  std::vector<RewardCount> batches;  ///< one for each of RewardParts::steps
};

struct RewardParts {
  std::vector<RewardPart> parts;  ///< in order of first sight; empty where a run logs none
  std::vector<int64_t> steps;     ///< of the last batches of the last attempt, ascending
};

/// A batch ends with its rollout phase. At most `batches` of them.
RewardParts reward_parts(const State& state, const Cycle& cycle, size_t batches);

/// "75 % (152/203)" of what passes, else "3.8 (2.45 to 5)"; "" where nothing was scored.
std::string reward_count_text(const RewardPart& part, const RewardCount& count);

/// "44 of 80 rollouts scored" in the batch that is under way, "" where there is none. The batch before says of how
/// many.
std::string rollouts_scored_text(const State& state);

}  // namespace mw
