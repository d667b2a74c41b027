// Records of several ranks in one file.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "core/event.h"
#include "read/lines/row.h"

namespace mw {

/// Tells the records of one rank from those of the others that write into the same file: each rank has figures of its
/// own part of the batch, and a series of all of them would be of none. The rank that writes first leads, until it
/// falls behind. A file whose records are of no rank, or of one, is not touched.
class LeadingRank {
 public:
  static constexpr int64_t kReach = 2;  ///< steps that ranks of one training may be apart

  /// False for a record of another rank while the leading one is at the same steps and records the same names. `rank`:
  /// below 0, none is known. `step`: of the record; kNoStep: it has none.
  bool leads(double rank, std::span<const RowNumber> numbers, int64_t step);
  /// The same of a record that names its rank, if it does.
  bool leads(std::span<const RowNumber> numbers, int64_t step);

 private:
  static constexpr double kNobody = -1;
  static constexpr size_t kNameLimit = 4096;
  double rank_ = kNobody;
  int64_t step_ = kNoStep;                    // of its last record
  std::set<std::string, std::less<>> names_;  // of its figures
};

}  // namespace mw
