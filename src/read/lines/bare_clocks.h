// Whether the lines of a log begin with a clock and nothing else, as `ts` and a strftime of one's own write it.
#pragma once

#include <cstdint>

namespace mw {

/// One per source. "08:00:30 step 5" may be a clock, a duration or a column of a table: it is a clock where several
/// lines with words behind it begin so, one not before the other.
class BareClocks {
 public:
  /// What a line begins with.
  struct Begin {
    int32_t clock_ms = -1;   ///< the time of day; -1: the line has none, or one behind a date
    bool worded = false;     ///< words stand behind it, which do not say that it is a duration
    int32_t moment_ms = -1;  ///< the time of day of the last line with a date; -1: there was none
  };
  /// The next line that is not blank. Of a line in pieces, which a bar redraws, only the first counts.
  void line(uint64_t number, const Begin& begin);
  /// Lines begin with clocks.
  bool sure() const { return points_ >= kSure; }
  /// They count from the start of the run, as far as the first one shows: they are no times of day.
  bool elapsed() const { return elapsed_; }
  /// What another reader of the same lines found.
  void begin_with(const BareClocks& other) {
    *this = other;
    last_number_ = 0;
  }

 private:
  static constexpr int kSure = 5, kMost = 24, kLine = 2;

  int points_ = 0;
  bool elapsed_ = false;
  int32_t last_ms_ = -1;
  uint64_t last_number_ = 0;
};

}  // namespace mw
