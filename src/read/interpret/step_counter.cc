#include "read/interpret/step_counter.h"

#include <algorithm>
#include <cmath>

namespace mw {
namespace {

constexpr int64_t kGapLimit = 50;          // lost records that one gap may stand for
constexpr double kLeastEpochStep = 0.015;  // epochs are rounded to 0.01; closer ones say nothing of gaps
constexpr int64_t kLeastRecords = 3;       // whose epochs say how many strides an epoch has
constexpr int64_t kConfirmed = 2;          // clumps that a stride has to hold for
constexpr int64_t kTooMany = 10;           // records more than a bar's total, and twice that, are not of its steps
constexpr int64_t kResumeMoves = 3;        // later movements that a first jump is compared with
constexpr int64_t kResumeJump = 4;         // and how many times as far it goes where it passes over steps done before

/// The roundest of the strides from `least` to `most`: trainers are asked to log every 10 or 50 steps, rarely every 11.
int64_t roundest(int64_t least, int64_t most) {
  for (const int64_t round : {1000, 500, 100, 50, 20, 10, 5, 2}) {
    if (most / round * round >= least) return most / round * round;
  }
  return most;
}

}  // namespace

void StepCounter::set_stride(int64_t stride) {
  if (stride <= 0) return;
  stride_ = stride;
  stated_ = true;
}

void StepCounter::resumed(int64_t step) {
  if (step == 0) {  // another training, whose bar says nothing of this one's
    settle();
    begin_again(0);
    bar_ = -1;
    total_ = 0;
  }
  base_ = step;
  base_ordinal_ = ordinal_;
  resumed_ = true;
}

bool StepCounter::goes_back(double epoch) const {
  return bar_ < 0 && epoch_ordinal_ > 0 && std::isfinite(epoch) && epoch < last_epoch_;
}

StepCounter::Turn StepCounter::turn(double epoch) const {
  if (epoch_ordinal_ == 0 || !std::isfinite(epoch)) return Turn::kUnknown;
  return epoch < last_epoch_ ? Turn::kBack : Turn::kOn;
}

/// The next record is of the step that had this epoch, as far as epochs, which are rounded, tell the strides apart.
void StepCounter::renumber(double epoch) {
  const double span = last_epoch_ - first_epoch_;
  if (resumed_ || stride_ <= 0 || span <= 0 || ordinal_ - epoch_ordinal_ < kLeastRecords) return;
  const double strides = (last_epoch_ - epoch) / span * static_cast<double>(ordinal_ - epoch_ordinal_);
  const int64_t last = base_ + (ordinal_ - base_ordinal_) * stride_;
  base_ = std::max<int64_t>(0, last - (std::llround(strides) + 1) * stride_);
  base_ordinal_ = ordinal_;
}

int64_t StepCounter::record(double epoch) {
  if (goes_back(epoch)) renumber(epoch);
  resumed_ = false;
  ++ordinal_;
  ++waiting_;
  if (total_ > 0 && waiting_ > std::max(2 * total_, total_ + kTooMany)) {
    outer_ = total_;
    total_ = 0;
    bar_ = -1;
  }
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
  ++waiting_;
}

// Another run begins, with the bar at `done`.
void StepCounter::begin_again(int64_t done) {
  base_ = done;
  base_ordinal_ = ordinal_;
  if (!stated_) stride_ = 0;
  epoch_ordinal_ = 0;
  buffered_ = redrawn_ = from_zero_ = false;
  left_alone_ = confirmed_ = first_move_ = longest_move_ = moves_ = 0;
}

void StepCounter::moved(int64_t done) {
  if (done == 0) from_zero_ = true;
  if (bar_ < 0 || done <= bar_) return;
  if (++moves_ == 1) {
    first_move_ = done - bar_;
  } else {
    longest_move_ = std::max(longest_move_, done - bar_);
  }
}

// How many steps a bar that began at 0 passed over because they had been done before.
int64_t StepCounter::skipped() const {
  const bool jumped = from_zero_ && base_ == 0 && moves_ > kResumeMoves && first_move_ > kResumeJump * longest_move_;
  return jumped ? first_move_ - longest_move_ : 0;
}

// The last record is of `step`.
void StepCounter::place(int64_t step) {
  const int64_t records = ordinal_ - base_ordinal_;
  if (!stated_ && step > base_ && records > 0) stride_ = std::max<int64_t>(1, (step - base_) / records);
  base_ = step;
  base_ordinal_ = ordinal_;
}

// The records since the base lie evenly up to what the bar shows: it is never behind them.
void StepCounter::spread() {
  base_ += skipped();
  const int64_t records = ordinal_ - base_ordinal_;
  if (stated_ || bar_ <= base_ || records <= 0) return;
  const int64_t most = std::max<int64_t>(1, (bar_ - base_) / records);
  if (stride_ > 0 && stride_ <= most) {
    ++confirmed_;
  } else if (confirmed_ < kConfirmed) {  // else one came out of turn, as a trainer's last one does
    stride_ = roundest((bar_ - base_) / (records + 1) + 1, most);  // one more record would not have been in time
    confirmed_ = 0;
  }
}

void StepCounter::bar(int64_t done, int64_t total) {
  if (is_outer(total)) return;
  if (done < bar_) {
    settle();
    begin_again(done);
  } else if (waiting_ > 1 || (waiting_ > 0 && buffered_)) {
    buffered_ = true;
    spread();
  } else if (waiting_ == 1 && bar_ >= 0) {
    const bool again = done == bar_;
    redrawn_ = redrawn_ || again;
    const bool hidden = !again && (redrawn_ || bar_ <= base_);
    if (!again && !hidden) ++left_alone_;
    place(hidden ? done : bar_);
  } else if (waiting_ == 1) {
    spread();
  }
  waiting_ = 0;
  moved(done);
  bar_ = done;
  total_ = total;
}

std::optional<int64_t> StepCounter::step_of(int64_t ordinal) const {
  const bool waits = ordinal > ordinal_ - waiting_;
  const bool blind = bar_ < 0 && stride_ > 0;  // no bar will show more than is known
  if (waits && !stated_ && !blind) {
    const bool at_once = waiting_ == 1 && !buffered_ && !redrawn_ && left_alone_ > 1 && bar_ > base_;
    return at_once ? std::optional(bar_) : std::nullopt;
  }
  if (stride_ == 0) return std::nullopt;
  const int64_t step = base_ + (ordinal - base_ordinal_) * stride_;
  // A trainer's last record is of the last step, wherever that is between two strides.
  const bool beyond = buffered_ && confirmed_ >= kConfirmed && step > bar_ && step - bar_ < stride_;
  const int64_t seen = beyond ? bar_ : step;
  return total_ > 0 ? std::min(seen, total_) : seen;
}

void StepCounter::saved(int64_t step) {
  if (bar_ >= 0 || stated_ || step <= 0) return;
  const int64_t records = ordinal_ - base_ordinal_, way = step - base_;
  // After a restart there are records twice: then the stride stays.
  if (records > 0 && way >= records && (stride_ == 0 || way % records == 0)) {
    stride_ = way % records == 0 ? way / records : roundest(way / (records + 1) + 1, way / records);
  }
  if (stride_ == 0) return;
  anchored_ = true;
  base_ = step - step % stride_;
  base_ordinal_ = ordinal_;
  waiting_ = 0;
}

void StepCounter::total(int64_t steps) {
  const int64_t records = ordinal_ - base_ordinal_;
  if (stated_ || bar_ > 0 || records <= 0 || steps < records) return;  // a bar that moved knows better
  stride_ = std::llround(static_cast<double>(steps - base_) / static_cast<double>(records));
  anchored_ = true;
  waiting_ = 0;
}

void StepCounter::settle() {
  if (waiting_ == 1 && !buffered_ && bar_ > base_) {
    place(bar_);
  } else if (waiting_ > 0) {
    spread();
  }
  waiting_ = 0;
  if (stride_ == 0) stride_ = 1;
}

}  // namespace mw
