// The clock of a file's lines as if nobody had ever set it back.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace mw {

struct Event;
struct State;

/// Lines of a file come in the order in which they were written. Where their clock goes back by most of an hour or more
/// (the end of daylight saving time, a correction, another zone) it was set back, and the time goes on all the same.
class StraightClock {
 public:
  /// When the line was written by the clock of the file's first lines; `at` itself where nothing was set back. Lines
  /// that do not come in order, and one that leaps by itself, are left as they are.
  Time straight(uint64_t line, Time at);
  /// By how much the clock was set back in all, as of the last line; 0: it never was.
  Duration set_back() const { return by_; }
  /// The first line at which it was; 0: it never was.
  uint64_t first() const { return first_; }

 private:
  uint64_t line_ = 0, first_ = 0;
  Time last_;           // of the last line, straight
  Duration by_;         // what is added to a line's clock
  uint8_t steady_ = 0;  // lines in a row that went on without a leap, as far as they count
  uint8_t since_ = 0;   // likewise, since it was set back
  uint8_t times_ = 0;   // how often it was set back
};

/// Decided by midwatch on a line: its time may be that of the watch, not the line's.
bool is_judged(const Event& event);
/// When an event happened, as if the clock of its log had never been set back. Who watches a run has a clock of his
/// own: what he learnt of stays as it is.
Time straight_time(State& state, const Event& event);

}  // namespace mw
