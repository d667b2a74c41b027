// A trainer whose records count two things, "optimizer_step" and "grpo_step", and some of whose records have one of
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/event.h"
#include "read/interpret/known_names.h"
#include "read/lines/row.h"

namespace mw {

/// Learns from records with both counters how one follows the other, so that all records of the source have their step
/// by the same one. Where the two keep the same distance, that holds; else a record with the other counter alone is of
/// the step that this one had at that count, or of the next one where it is ahead of it.
class TwoCounters {
 public:
  /// `step`: what one of the record's numbers says, the counter that ranks first among those that it has. Returned is
  /// the step by the counter that ranked first in records with both.
  int64_t step_of(std::span<KnownName* const> names, std::span<const RowNumber> numbers, int64_t step);

 private:
  void learn(int64_t step, int64_t other);

  std::string first_, other_;  ///< names; empty: no record had two counters
  int64_t step_ = kNoStep;     ///< of the last record with both
  int64_t count_ = 0;          ///< the other counter then
  bool apart_ = false;         ///< they do not keep their distance
};

}  // namespace mw
