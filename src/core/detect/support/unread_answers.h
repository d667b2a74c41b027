// Answers that the reward's or a judge's parser could not read, by the log's own words, as a share of all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/detect/detector.h"
#include "core/state.h"

namespace mw::detect {

/// Rollouts of one step, by the run's settings; nullopt: they do not say.
std::optional<double> rollouts_per_step(const State& state);

struct UnreadAnswers {
  const SignatureState* said = nullptr;
  uint64_t times = 0;
  int64_t since = 0, steps = 1;    ///< from the step of the first up to now
  std::optional<double> rollouts;  ///< all of those steps; nullopt where the settings do not say

  /// Of the rollouts; 0 where their number is not known.
  double share() const;
  /// "240 answers in 30 steps could not be read, of about 480".
  std::string words() const;
};

/// nullopt: the log says nothing of the kind.
std::optional<UnreadAnswers> unread_answers(const State& state);

}  // namespace mw::detect
