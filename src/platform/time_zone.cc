#include "platform/time_zone.h"

#include <cstdlib>
#include <ctime>

#include "base/numbers.h"

namespace mw {
namespace {

constexpr int64_t kSecond = 1'000'000'000, kHour = 3600 * kSecond;
constexpr int64_t kAhead = 120 * kSecond;    // clocks of a file server and of the trainer's machine differ by this
constexpr int64_t kFurthest = 14 * kHour;    // UTC+14, Kiribati
constexpr int64_t kStaleLimit = 12 * kHour;  // a line that stands so long before the last write says nothing

int64_t hour_of(Time at) { return at.ns / kHour - (at.ns % kHour < 0 ? 1 : 0); }

}  // namespace

TimeZone TimeZone::fixed(Duration east) {
  TimeZone zone;
  zone.east_ = east;
  return zone;
}

TimeZone TimeZone::local() {
  tzset();
  TimeZone zone;
  zone.local_ = true;
  return zone;
}

std::optional<TimeZone> TimeZone::parse(std::string_view text) {
  if (text == "UTC" || text == "utc" || text == "Z") return TimeZone();
  if (text == "local") return local();
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  std::string digits;
  for (const char c : text.substr(1)) {
    if (c == ':' && digits.size() == 2) continue;
    if (c < '0' || c > '9' || digits.size() == 4) return std::nullopt;
    digits += c;
  }
  if (digits.size() == 1) digits = "0" + digits;
  if (digits.size() == 2) digits += "00";
  if (digits.size() != 4) return std::nullopt;
  const int64_t number = parse_int(digits).value_or(-1), minutes = number / 100 * 60 + number % 100;
  if (number < 0 || number % 100 > 59 || minutes * 60 * kSecond > kFurthest) return std::nullopt;
  return fixed({(text[0] == '-' ? -1 : 1) * minutes * 60 * kSecond});
}

Duration TimeZone::east_at(Time at, bool wall) const {
  if (!local_) return east_;
  const int64_t hour = hour_of(at);
  if (hour == hour_ && wall == of_wall_) return kept_;
  const auto seconds = static_cast<time_t>(at.ns / kSecond);
  tm parts{};
  if (wall) {
    if (gmtime_r(&seconds, &parts) == nullptr) return {};
    parts.tm_isdst = -1;
    const time_t utc = mktime(&parts);
    kept_ = {(seconds - utc) * kSecond};
  } else {
    if (localtime_r(&seconds, &parts) == nullptr) return {};
    kept_ = {parts.tm_gmtoff * kSecond};
  }
  hour_ = hour;
  of_wall_ = wall;
  return kept_;
}

namespace {

/// A line was written when its file was last written, and says whole half hours less: so far west of UTC is its clock.
/// An idle log is so by chance in one case of some hundreds, where the last write was not of its last line.
std::optional<TimeZone> west_of_utc(int64_t as_utc, int64_t as_local) {
  constexpr int64_t kHalf = kHour / 2, kExact = 5 * kSecond;
  if (std::abs(as_local) <= kExact || as_utc < kHalf - kExact) return std::nullopt;
  const int64_t west = (as_utc + kHalf / 2) / kHalf * kHalf;
  if (west > kFurthest || std::abs(as_utc - west) > kExact) return std::nullopt;
  return TimeZone::fixed({-west});
}

}  // namespace

std::optional<TimeZone> zone_of_clock(Time wall, Time changed, const TimeZone& local, bool last_line) {
  if (!wall.known() || !changed.known()) return std::nullopt;
  const int64_t as_utc = changed.ns - wall.ns, as_local = changed.ns - local.to_utc(wall).ns;
  if (const auto west = last_line ? west_of_utc(as_utc, as_local) : std::nullopt) return west;
  const auto possible = [](int64_t before) { return before >= -kAhead && before <= kStaleLimit; };
  if (possible(as_utc) && (!possible(as_local) || as_utc <= as_local)) return TimeZone();
  if (possible(as_local)) return local;
  // Dated ahead: east of UTC by as much, at a whole or half hour. By less than an hour, somebody set a clock.
  if (as_utc > kAhead - kHour) return std::nullopt;
  constexpr int64_t kHalf = kHour / 2;
  const int64_t east = (-as_utc + kHalf - 1) / kHalf * kHalf, before = east + as_utc;
  if (east > kFurthest) return std::nullopt;
  if (before <= kAhead) return TimeZone::fixed({east});
  return kHalf - before <= kAhead ? std::optional(TimeZone::fixed({east - kHalf})) : std::nullopt;
}

}  // namespace mw
