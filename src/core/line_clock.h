// When the lines of a source were written, as far as lines with a clock show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace mw {

/// Keeps at most kKept lines with their times, evenly spread; lines come in ascending order (others are ignored).
class LineClock {
 public:
  static constexpr size_t kKept = 1024;

  void note(uint64_t line, Time at);
  /// Of the last known line up to `line`, and of the first one from it on; unknown where there is none.
  Time before(uint64_t line) const;
  Time after(uint64_t line) const;

 private:
  struct Dated {
    uint64_t line = 0;
    Time at;
  };
  std::vector<Dated> kept_;
  Dated last_;            // kept besides: they may be far apart
  uint64_t spacing_ = 1;  // lines between two of them
};

}  // namespace mw
