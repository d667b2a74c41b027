// The time stamps that logs carry, with and without a date.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace mw {

/// A time stamp as written. What it lacks (year, date) is the caller's to supply.
struct Stamp {
  enum class Kind : uint8_t {
    kFull,      ///< date and clock: `at` is set
    kMonthDay,  ///< "02-19 09:08:11" (vLLM), "Feb 19 09:08:11" (syslog), "0219 09:08:11" (glog)
    kClock,     ///< "09:08:11" alone
  };
  Kind kind = Kind::kClock;
  size_t used = 0;  ///< bytes it takes at the start of the text
  Time at;
  int month = 0, day = 0;  ///< kMonthDay
  int64_t day_ns = 0;      ///< nanoseconds since midnight
  bool zoned = false;      ///< it names its zone, or counts from 1970: `at` is UTC
  /// What the numbers of a date with slashes or dashes say of their order: "11/20/2026" and "20/11/2026" can only be
  /// one thing; of "04/03/2026", `at` is the third of April and `day_first` the fourth of March.
  enum class Order : uint8_t { kNone, kEither, kMonthFirst, kDayFirst };
  Order order = Order::kNone;
  bool short_year = false;  ///< "04/03/26", as C's "%x" and "%D" write it in most places: the month first
  Time day_first;           ///< where the order is kEither
};

/// Reads the stamp that `text` begins with: ISO 8601 and its relatives ("2026/02/19 09:08:11,482"),
/// "20260219-09:08:11", "20260219_090811", "02-19 09:08:11", "02/19/26 09:08:11", "19.02.2026 09:08:11", "2026年2月19日
/// 09:08:11", "Thu Feb 19 09:08:11 CET 2026", "Thu, 19 Feb 2026 09:08:11 +0100", "19-Feb-2026 09:08:11",
/// "19/Feb/2026:09:08:11 +0000", "Feb 19 09:08:11", "09:08:11.482", "09:08:11 PM", seconds or milliseconds since 1970.
/// A zone may be written as letters that mean one zone only ("JST", and not "CST"), as "+0900", "UTC+9" or "+09", or as
/// a place that has no summer time. Without one `at` is what the clock shows, as if it were UTC.
std::optional<Stamp> read_stamp(std::string_view text);

/// The part of a glog line after its level letter: "0219 09:08:11.482", PyTorch's "219 09:08:11" and "20260219
/// 09:08:11".
std::optional<Stamp> read_glog_stamp(std::string_view text);

/// A stamp without a year in the latest year that does not put it after `bound` (a file's time of last change), zones
/// and clocks that differ allowed for by two days. Unknown for other stamps, and without a bound.
Time latest_before(const Stamp& stamp, Time bound);

/// Supplies what a stamp lacks. `last` is the last moment known in the same file; unknown when there is none. The
/// answer is unknown when it cannot be had. A clock that jumps back by more than two hours has gone past midnight; less
/// is another process's line that came late.
Time complete_stamp(const Stamp& stamp, Time last);

}  // namespace mw
