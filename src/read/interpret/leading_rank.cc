#include "read/interpret/leading_rank.h"

#include <algorithm>
#include <string_view>

namespace mw {
namespace {

bool names_rank(std::string_view key) {
  return key == "rank" || key == "global_rank" || key == "process_index" || key.ends_with("/rank");
}

}  // namespace

bool LeadingRank::leads(std::span<const RowNumber> numbers, int64_t step) {
  const auto rank =
      std::find_if(numbers.begin(), numbers.end(), [](const RowNumber& one) { return names_rank(one.key); });
  if (rank == numbers.end() || step == kNoStep) return true;
  const bool other = rank_ != kNobody && rank->value != rank_;
  if (other && step_ != kNoStep && step >= step_ - kReach && step <= step_ + kReach) return false;
  rank_ = rank->value;
  step_ = step;
  return true;
}

}  // namespace mw
