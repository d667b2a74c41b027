#include "read/lines/bare_clocks.h"

#include <algorithm>
#include <cstdlib>

namespace mw {
namespace {

constexpr int32_t kMinute = 60'000, kHour = 60 * kMinute, kDay = 24 * kHour;

/// How much later in the day `to` is, or earlier; midnight may lie between.
int32_t later(int32_t from, int32_t to) {
  const int32_t by = to - from;
  return by > kDay / 2 ? by - kDay : by < -kDay / 2 ? by + kDay : by;
}

}  // namespace

void BareClocks::line(uint64_t number, const Begin& begin) {
  constexpr int32_t kElapsed = 10 * kMinute;  // runs seldom begin at midnight
  if (number != 0 && number == last_number_) return;
  last_number_ = number;
  if (begin.clock_ms >= 0 && !begin.worded) return;  // a blank line behind it, or a row of figures
  const bool in_turn = begin.clock_ms >= 0 && (last_ms_ < 0 || later(last_ms_, begin.clock_ms) >= 0) &&
                       (begin.moment_ms < 0 || std::abs(later(begin.moment_ms, begin.clock_ms)) <= kHour);
  if (!in_turn) {
    points_ = std::max(0, points_ - 1);
    if (points_ == 0) last_ms_ = -1;
    return;
  }
  if (last_ms_ < 0) elapsed_ = begin.clock_ms < kElapsed;
  last_ms_ = begin.clock_ms;
  points_ = std::min(kMost, points_ + kLine);
}

}  // namespace mw
