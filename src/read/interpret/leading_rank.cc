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
  return rank == numbers.end() || leads(rank->value, numbers, step);
}

bool LeadingRank::leads(double rank, std::span<const RowNumber> numbers, int64_t step) {
  if (rank < 0 || step == kNoStep) return true;
  const bool beside = rank_ != kNobody && rank != rank_ && step >= step_ - kReach && step <= step_ + kReach;
  if (beside) {
    return !std::all_of(numbers.begin(), numbers.end(),
                        [this](const RowNumber& one) { return names_.find(one.key) != names_.end(); });
  }
  if (rank != rank_) names_.clear();
  rank_ = rank;
  step_ = step;
  for (const RowNumber& one : numbers) {
    if (names_.size() < kNameLimit && names_.find(one.key) == names_.end()) names_.emplace(one.key);
  }
  return true;
}

}  // namespace mw
