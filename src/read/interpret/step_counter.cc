#include "read/interpret/step_counter.h"

#include <algorithm>
#include <cmath>

namespace mw {
namespace {

constexpr int64_t kGapLimit = 50;          // lost records that one gap may stand for
constexpr double kLeastEpochStep = 0.015;  // epochs are rounded to 0.01; closer ones say nothing of gaps

}  // namespace

void StepCounter::set_stride(int64_t stride) {
  if (stride <= 0) return;
  stride_ = stride;
  stated_ = true;
}

void StepCounter::resumed(int64_t step) {
  base_ = step;
  base_ordinal_ = ordinal_;
}

int64_t StepCounter::record(double epoch) {
  ++ordinal_;
  ++clump_;
  if (!std::isfinite(epoch)) return ordinal_;
  if (epoch_ordinal_ == 0 || epoch < last_epoch_) {
    first_epoch_ = epoch;
    epoch_ordinal_ = ordinal_;
  } else if (ordinal_ - 1 > epoch_ordinal_) {
    const double usual = (last_epoch_ - first_epoch_) / static_cast<double>(ordinal_ - 1 - epoch_ordinal_);
    const double gap = usual > kLeastEpochStep ? (epoch - last_epoch_) / usual : 1;
    if (gap > 1.7 && buffered_) ordinal_ += std::min<int64_t>(kGapLimit, std::llround(gap) - 1);
  }
  last_epoch_ = epoch;
  return ordinal_;
}

void StepCounter::lost_record() {
  ++ordinal_;
  ++clump_;
}

void StepCounter::end_of_clump() {
  if (clump_ == 0) return;
  ++clumps_;
  if (clump_ > 1) buffered_ = true;
  const int64_t records = ordinal_ - base_ordinal_;
  if (!stated_ && bar_ > base_ && records > 0) {
    const int64_t most = std::max<int64_t>(1, (bar_ - base_) / records);  // the bar is never behind the records
    if (stride_ == 0 || stride_ > most || !buffered_) stride_ = most;
    if (!buffered_) {
      base_ = bar_;
      base_ordinal_ = ordinal_;
    }
  }
  clump_ = 0;
}

void StepCounter::bar(int64_t done) {
  if (done == bar_) return;
  end_of_clump();
  if (done < bar_) {  // another run begins
    base_ = done;
    base_ordinal_ = ordinal_;
    if (!stated_) stride_ = 0;
    clumps_ = 0;
    epoch_ordinal_ = 0;
    buffered_ = false;
  }
  bar_ = done;
}

std::optional<int64_t> StepCounter::step_of(int64_t ordinal) const {
  if (!stated_ && clump_ > 0 && clumps_ < 2) return std::nullopt;
  if (!stated_ && clump_ == 1 && ordinal == ordinal_ && !buffered_ && bar_ > base_) return bar_;
  if (stride_ == 0) return std::nullopt;
  return base_ + (ordinal - base_ordinal_) * stride_;
}

void StepCounter::total(int64_t steps) {
  const int64_t records = ordinal_ - base_ordinal_;
  if (stated_ || bar_ >= 0 || records <= 0 || steps < records) return;
  stride_ = std::llround(static_cast<double>(steps - base_) / static_cast<double>(records));
  clump_ = 0;
}

void StepCounter::settle() {
  end_of_clump();
  if (stride_ == 0) stride_ = 1;
}

}  // namespace mw
