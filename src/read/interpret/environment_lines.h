// Lines of single environments, turns, tasks and samples, which count steps of their own between a trainer's records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "read/interpret/step_place.h"

namespace mw {

/// One per source.
class EnvironmentLines {
 public:
  /// A line that says which of several it is of ("[env 3] step 15/50", "turn 2: reward 0.0"), or that an episode is
  /// done or not ("step 23 reward=0.0 done=False").
  static bool is_named(std::string_view text, const StepPlace& at);
  /// The trainer wrote its step, a reward and what else training measures in one line.
  void trained(std::string_view text, const StepPlace& at);
  /// Whether a line whose only figures are rewards belongs to somebody else than the trainer: it counts otherwise, and
  /// the trainer's own records have the reward.
  bool is_others(std::string_view text, const StepPlace& at);

 private:
  static constexpr size_t kOthersLimit = 64;  // beginnings of lines that are remembered
  static constexpr int kSure = 2;             // records, after which it is known how the trainer writes

  std::string lead_;                                // before the step, in the trainer's records
  std::map<std::string, int, std::less<>> others_;  // such beginnings, and how often their step was not the trainer's
  int64_t step_ = kNoStep, total_ = 0, apart_ = 1;
  int records_ = 0;
};

}  // namespace mw
