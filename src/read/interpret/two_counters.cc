#include "read/interpret/two_counters.h"

#include <cmath>
#include <utility>

namespace mw {

void TwoCounters::learn(int64_t step, int64_t other) {
  if (step_ != kNoStep) apart_ = apart_ || step - step_ != other - count_;
  step_ = step;
  count_ = other;
}

int64_t TwoCounters::step_of(std::span<KnownName* const> names, std::span<const RowNumber> numbers, int64_t step) {
  struct Counter {
    const KnownName* name = nullptr;
    int64_t count = 0;
  };
  Counter first, other;
  for (size_t i = 0; i < names.size() && i < numbers.size(); ++i) {
    const KnownName* const name = names[i];
    if (name->step_rank == KnownName::kNoRank || !(std::fabs(numbers[i].value) < 1e15) ||
        numbers[i].value != std::floor(numbers[i].value))
      continue;
    Counter one{name, static_cast<int64_t>(numbers[i].value)};
    const bool leads = one.count == step && (first.name == nullptr || name->step_rank < first.name->step_rank);
    if (leads) std::swap(first, one);
    if (one.name != nullptr) other = one;
  }
  if (first.name == nullptr) return step;
  if (other.name != nullptr) {
    if (first_.empty()) {
      first_ = first.name->raw;
      other_ = other.name->raw;
    }
    if (first.name->raw == first_ && other.name->raw == other_) learn(step, other.count);
    return step;
  }
  if (step_ == kNoStep || first.name->raw != other_) return step;
  if (!apart_) return step + (step_ - count_);
  return step > count_ && step_ > count_ ? step_ + 1 : step_;
}

}  // namespace mw
