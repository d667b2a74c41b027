// A run that is started again with a log of its own for each attempt, as schedulers do. A part of fold().
#pragma once

#include <optional>

#include "core/attempt_share.h"

namespace mw {

/// A log that shows its first step.
struct NewLog {
  uint32_t source = 0;
  size_t attempt = 0;  ///< that its steps seem to be of, or which it is the next one of
  int64_t step = kNoStep;
  Time at;               ///< of that step; may be unknown
  bool resumes = false;  ///< the trainer said that it goes on from that step
  bool begun = false;    ///< it is known to be another attempt's
};

/// How many steps lie between two of its records, as a rule; 1 where it has no two.
int64_t steps_between_records(const SourceState& log);

/// The step just before `step` from which a trainer said, in the attempt that the source is in, that it goes on.
int64_t resumed_before(const State& state, const SourceState& source, int64_t step);

/// Where the new log begins: behind the log of the attempt, which ended before. Somebody has to say that this is
/// another start: the log before spoke of its end (a failure, a scheduler's time limit), or the new one goes on from a
/// checkpoint, or does again, later, what the other one had done. nullopt: a view of the same attempt, a log that was
/// rotated, or nothing that can be known.
std::optional<LogBoundary> boundary_before(const State& state, const NewLog& fresh);

}  // namespace mw
