// Records of several ranks in one file.
#pragma once

#include <cstdint>
#include <span>

#include "core/event.h"
#include "read/lines/row.h"

namespace mw {

/// Tells the records of one rank from those of the others that write into the same file: each rank has figures of its
/// own part of the batch, and a series of all of them would be of none. The rank that writes first leads, until it
/// falls behind. A file whose records name no rank, or one, is not touched.
class LeadingRank {
 public:
  static constexpr int64_t kReach = 2;  ///< steps that ranks of one training may be apart

  /// False for a record of another rank while the leading one is at the same steps. `step`: of the record; kNoStep: it
  /// has none.
  bool leads(std::span<const RowNumber> numbers, int64_t step);

 private:
  static constexpr double kNobody = -1;
  double rank_ = kNobody;
  int64_t step_ = kNoStep;  // of its last record
};

}  // namespace mw
