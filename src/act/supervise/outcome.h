// What became of an ended attempt, in the terms of core/supervise/policy.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "act/keeper/record.h"
#include "act/supervise/judgement.h"
#include "act/supervise/run_files.h"
#include "core/knowledge.h"
#include "core/state.h"
#include "core/supervise/policy.h"
#include "sense/checkpoints/last_whole.h"

namespace mw {

/// What the supervisor knows of it, beside what the run's files report.
struct AttemptEnd {
  const Kept& kept;
  const std::optional<Trip>& trip;      ///< the breaker ended it
  const std::optional<LastWhole>& way;  ///< what it left to resume from
  bool stopping = false;                ///< a stop was requested
  bool made_room = false;               ///< space was made since
  int64_t suspect = kNoStep;            ///< first checkpoint from poisoned data
  std::string stopped_for = {};         ///< why, where it was for want of a component
  std::span<const std::string> command = {};
};
AttemptOutcome outcome_of(const AttemptEnd& end, const State& state, const Knowledge& knowledge);

}  // namespace mw
