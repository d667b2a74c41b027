// The last line of a text that says when it was written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/time.h"

namespace mw {

/// Keeps the end of what was read: a traceback at the end of a log has no clock, and the lines before it have.
class LastClock {
 public:
  void keep(std::string_view bytes) {
    if (bytes.size() >= kBytes) kept_.clear();
    kept_ += bytes.substr(bytes.size() - std::min(bytes.size(), kBytes));
    if (kept_.size() > 2 * kBytes) kept_.erase(0, kept_.size() - kBytes);
  }

  /// Of the last one of the last lines of which `lines.time_of()` knows a time. `last`: the last line, whole.
  template <typename Lines>
  Time find(std::string_view last, Lines& lines) const {
    if (const Time at = lines.time_of(last); at.known()) return at;
    std::string_view left = kept_;
    for (size_t count = 0; !left.empty() && count < kLines; ++count) {
      const size_t begin = left.substr(0, left.size() - 1).rfind('\n') + 1;
      if (const Time at = lines.time_of(left.substr(begin)); at.known()) return at;
      left = left.substr(0, begin);
    }
    return {};
  }

 private:
  static constexpr size_t kBytes = 16U << 10;  // a traceback's, and those of some ranks
  static constexpr size_t kLines = 300;
  std::string kept_;
};

}  // namespace mw
