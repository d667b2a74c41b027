#include "read/interpret/step_leap.h"

#include <algorithm>
#include <utility>

namespace mw {

void StepLeap::pass(int64_t step) {
  if (last_ != kNoStep && step > last_) {
    longest_ = std::max(longest_, step - last_);
    ++known_;
  }
  last_ = step;
}

bool StepLeap::comes(int64_t step, std::vector<Event>& out) {
  const bool far = leaps(step);
  if (far && (waiting_ == 0 || step == leapt_ || (step > leapt_ && waiting_ < kPatience))) {
    waiting_ += step == leapt_ ? 0 : 1;
    leapt_ = step;
    return true;
  }
  if (far) {  // the log has gone on there
    out.insert(out.end(), std::make_move_iterator(held_.begin()), std::make_move_iterator(held_.end()));
    last_ = leapt_;
  }
  held_.clear();
  waiting_ = 0;
  leapt_ = kNoStep;
  pass(step);
  return false;
}

void StepLeap::begin_anew() { *this = {}; }

void StepLeap::finish(int64_t planned, std::vector<Event>& out) {
  if (planned <= 0 || leapt_ <= planned) {
    out.insert(out.end(), std::make_move_iterator(held_.begin()), std::make_move_iterator(held_.end()));
  }
  begin_anew();
}

}  // namespace mw
