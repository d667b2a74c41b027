// Time and Duration: nanoseconds, in types that do not mix. The wall clock of the run's own files, always UTC inside.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mw {

struct Duration {
  int64_t ns = 0;
  static constexpr Duration seconds(double s) { return {static_cast<int64_t>(s * 1e9)}; }
  static constexpr Duration millis(int64_t ms) { return {ms * 1'000'000}; }
  constexpr double seconds() const { return static_cast<double>(ns) / 1e9; }
  auto operator<=>(const Duration&) const = default;
};

/// A moment, as nanoseconds since 1970-01-01T00:00:00Z. Zero means "not known".
struct Time {
  int64_t ns = 0;
  constexpr bool known() const { return ns != 0; }
  static constexpr Time from_seconds(double s) { return {static_cast<int64_t>(s * 1e9)}; }
  constexpr double seconds() const { return static_cast<double>(ns) / 1e9; }
  auto operator<=>(const Time&) const = default;
};
constexpr Duration operator-(Time a, Time b) { return {a.ns - b.ns}; }
constexpr Time operator+(Time a, Duration d) { return {a.ns + d.ns}; }

/// "2026-02-19T09:08:11Z" (with ".mmm" when the moment is not a whole second); "" when not known.
std::string format_utc(Time t);

/// "1h 42m", "3.2 s", "85 ms": for people.
std::string format_duration(Duration d);

/// Parses the date-time forms that trainers print: ISO 8601 with 'T' or space, optional fraction after '.' or ',',
/// optional zone (Z, +hh:mm; none counts as UTC). nullopt when `text` does not begin with one. `used` (may be null)
/// gets the number of bytes consumed.
std::optional<Time> parse_time(std::string_view text, size_t* used = nullptr);

/// Days since 1970-01-01 of a civil date (proleptic Gregorian), after Howard Hinnant's public-domain algorithm.
int64_t days_from_civil(int64_t year, int month, int day);

}  // namespace mw
