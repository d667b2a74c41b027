#include "read/lines/log_time.h"

namespace mw {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86400 * kSecond;
constexpr int64_t kLateLine = 7200 * kSecond;  // processes share a file; their lines mix within minutes, not hours

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Exactly `width` digits at `at`, or -1.
int number(std::string_view text, size_t at, size_t width) {
  if (at + width > text.size()) return -1;
  int value = 0;
  for (size_t i = at; i < at + width; ++i) {
    if (!digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

char char_at(std::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }

/// "09:08:11" with an optional fraction at `at`; moves `at` behind it. Nanoseconds since midnight, or -1.
int64_t read_clock(std::string_view text, size_t& at) {
  size_t i = at;
  int hour = number(text, i, 2);
  if (hour < 0) return -1;
  const int minute = number(text, i + 3, 2), second = number(text, i + 6, 2);
  if (hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return -1;
  if (text[i + 2] != ':' || text[i + 5] != ':') return -1;
  i += 8;
  if (digit(char_at(text, i))) return -1;
  int64_t ns = ((hour * 60LL + minute) * 60 + second) * kSecond;
  if ((char_at(text, i) == '.' || char_at(text, i) == ',') && digit(char_at(text, i + 1))) {
    int64_t unit = kSecond / 10;
    for (++i; digit(char_at(text, i)); ++i, unit /= 10) ns += unit * (text[i] - '0');
  }
  at = i;
  return ns;
}

/// "09:08:11 PM": moves `at` behind the half of the day that follows a clock, and gives the clock by it.
int64_t half_of_day(std::string_view text, size_t& at, int64_t clock) {
  constexpr int64_t kNoon = kDay / 2, kOne = 3600 * kSecond;
  const size_t half = char_at(text, at) == ' ' ? at + 1 : at;
  const char letter = static_cast<char>(char_at(text, half) & ~0x20), end = char_at(text, half + 2);
  if ((letter != 'A' && letter != 'P') || (char_at(text, half + 1) & ~0x20) != 'M') return clock;
  const bool apart = end == '\0' || end == ' ' || end == ']' || end == ':' || end == ',' || end == '|';
  if (!apart || clock < kOne || clock >= kNoon + kOne) return clock;
  at = half + 2;
  const int64_t morning = clock >= kNoon ? clock - kNoon : clock;
  return letter == 'P' ? morning + kNoon : morning;
}

int month_by_name(std::string_view text) {
  constexpr std::string_view kNames = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const size_t at = text.size() < 3 ? std::string_view::npos : kNames.find(text.substr(0, 3));
  return at == std::string_view::npos || at % 3 != 0 ? 0 : static_cast<int>(at / 3) + 1;
}

bool weekday(std::string_view text) {
  constexpr std::string_view kNames = "MonTueWedThuFriSatSun";
  const size_t at = text.size() < 4 ? std::string_view::npos : kNames.find(text.substr(0, 3));
  return at != std::string_view::npos && at % 3 == 0 && text[3] == ' ';
}

bool valid_date(int month, int day) { return month >= 1 && month <= 12 && day >= 1 && day <= 31; }

Stamp full(int year, int month, int day, int64_t day_ns, size_t used) {
  Stamp stamp;
  stamp.kind = Stamp::Kind::kFull;
  stamp.at = Time{days_from_civil(year, month, day) * kDay + day_ns};
  stamp.day_ns = day_ns;
  stamp.used = used;
  return stamp;
}

Stamp at_moment(Time at, size_t used, bool zoned) {
  Stamp stamp;
  stamp.kind = Stamp::Kind::kFull;
  stamp.at = at;
  stamp.used = used;
  stamp.zoned = zoned;
  return stamp;
}

Stamp month_day(int month, int day, int64_t day_ns, size_t used) {
  Stamp stamp;
  stamp.kind = Stamp::Kind::kMonthDay;
  stamp.month = month;
  stamp.day = day;
  stamp.day_ns = day_ns;
  stamp.used = used;
  return stamp;
}

std::optional<Stamp> iso(std::string_view text) {
  size_t used = 0;
  const std::optional<Time> at = parse_time(text, &used);
  if (!at) return std::nullopt;
  bool zoned = text.substr(19, used - 19).find_first_of("Z+-") != std::string_view::npos;
  if (text.substr(used, 4) == " UTC" || text.substr(used, 4) == " GMT") {
    used += 4;
    zoned = true;
  } else if (char_at(text, used) == ' ' && (char_at(text, used + 1) == '+' || char_at(text, used + 1) == '-') &&
             number(text, used + 2, 4) >= 0 && !digit(char_at(text, used + 6))) {
    const int64_t offset = number(text, used + 2, 2) * 3600 + number(text, used + 4, 2) * 60;
    const int64_t sign = text[used + 1] == '-' ? -1 : 1;
    return at_moment(Time{at->ns - sign * offset * kSecond}, used + 6, true);
  }
  return at_moment(*at, used, zoned);
}

/// "20260219-09:08:11.482" and "20260219 09:08:11".
std::optional<Stamp> compact(std::string_view text) {
  const int year = number(text, 0, 4), month = number(text, 4, 2), day = number(text, 6, 2);
  if (year < 1970 || year > 2200 || !valid_date(month, day)) return std::nullopt;
  const char separator = char_at(text, 8);
  if (separator != '-' && separator != ' ' && separator != 'T' && separator != '_') return std::nullopt;
  size_t at = 9;
  const int64_t clock = read_clock(text, at);
  if (clock < 0) return std::nullopt;
  return full(year, month, day, clock, at);
}

/// A date of numbers with a year behind them, in either order where both can be a month.
std::optional<Stamp> with_year(int year, int first, int second, int64_t clock, size_t used) {
  if (year < 1970 || year > 2200) return std::nullopt;
  const bool month_first = valid_date(first, second), day_first = valid_date(second, first);
  if (!month_first && !day_first) return std::nullopt;
  Stamp stamp = month_first ? full(year, first, second, clock, used) : full(year, second, first, clock, used);
  if (first == second) return stamp;
  stamp.order = !day_first ? Stamp::Order::kMonthFirst : !month_first ? Stamp::Order::kDayFirst : Stamp::Order::kEither;
  if (stamp.order == Stamp::Order::kEither) stamp.day_first = full(year, second, first, clock, used).at;
  return stamp;
}

/// "02-19 09:08:11" and "02/19 09:08:11"; with a year, "02/19/26 09:08:11" and "02/19/2026 09:08:11", which may as well
/// have the day first.
std::optional<Stamp> month_first(std::string_view text) {
  const int month = number(text, 0, 2), day = number(text, 3, 2);
  const char separator = char_at(text, 2);
  if (month < 0 || day < 0 || (separator != '-' && separator != '/')) return std::nullopt;
  size_t at = 5;
  int year = -1;
  bool short_year = false;
  if (char_at(text, at) == separator) {
    year = number(text, at + 1, 4);
    at += year >= 0 ? 5 : 3;
    short_year = year < 0;
    if (short_year) year = number(text, at - 2, 2) < 0 ? -1 : 2000 + number(text, at - 2, 2);
    if (year < 0) return std::nullopt;
  }
  if (char_at(text, at) == ',') ++at;
  if (char_at(text, at) != ' ' && char_at(text, at) != '-') return std::nullopt;
  ++at;
  const int64_t clock = read_clock(text, at);
  if (clock < 0) return std::nullopt;
  if (year < 0) return valid_date(month, day) ? std::optional(month_day(month, day, clock, at)) : std::nullopt;
  const int64_t whole = half_of_day(text, at, clock);
  auto stamp = with_year(year, month, day, whole, at);
  if (stamp) stamp->short_year = short_year;
  return stamp;
}

/// "19.02.2026 09:08:11": with dots, the day comes first.
std::optional<Stamp> dotted(std::string_view text) {
  const int day = number(text, 0, 2), month = number(text, 3, 2), year = number(text, 6, 4);
  if (!valid_date(month, day) || year < 1970 || year > 2200 || char_at(text, 5) != '.') return std::nullopt;
  size_t at = char_at(text, 10) == ',' ? 11 : 10;
  if (char_at(text, at) != ' ' && char_at(text, at) != 'T') return std::nullopt;
  ++at;
  const int64_t clock = read_clock(text, at);
  if (clock < 0) return std::nullopt;
  return full(year, month, day, clock, at);
}

/// "2026-02-19, 09:08:11"
std::optional<Stamp> with_comma(std::string_view text) {
  const int year = number(text, 0, 4), month = number(text, 5, 2), day = number(text, 8, 2);
  if (char_at(text, 10) != ',' || char_at(text, 11) != ' ' || char_at(text, 7) != text[4]) return std::nullopt;
  if (year < 1970 || year > 2200 || !valid_date(month, day)) return std::nullopt;
  size_t at = 12;
  const int64_t clock = read_clock(text, at);
  if (clock < 0) return std::nullopt;
  return full(year, month, day, clock, at);
}

/// "[Thu ]Feb 19 09:08:11[ UTC][ 2026]".
std::optional<Stamp> named_month(std::string_view text) {
  size_t at = weekday(text) ? 4 : 0;
  const int month = month_by_name(text.substr(at));
  if (month == 0 || char_at(text, at + 3) != ' ') return std::nullopt;
  at += char_at(text, at + 4) == ' ' ? 5 : 4;
  size_t width = digit(char_at(text, at + 1)) ? 2 : 1;
  const int day = number(text, at, width);
  if (!valid_date(month, day) || char_at(text, at + width) != ' ') return std::nullopt;
  at += width + 1;
  const int64_t clock = read_clock(text, at);
  if (clock < 0) return std::nullopt;
  size_t behind = at;
  const bool utc = text.substr(behind, 4) == " UTC";
  if (utc) behind += 4;
  const int year = char_at(text, behind) == ' ' ? number(text, behind + 1, 4) : -1;
  if (year >= 1970 && year <= 2200 && !digit(char_at(text, behind + 5))) {
    Stamp stamp = full(year, month, day, clock, behind + 5);
    stamp.zoned = utc;
    return stamp;
  }
  return month_day(month, day, clock, at);
}

/// Seconds ("1771492091.48") or milliseconds since 1970, between the years 2015 and 2040, followed by a space.
std::optional<Stamp> epoch(std::string_view text) {
  size_t width = 0;
  int64_t value = 0;
  for (; width < 14 && digit(char_at(text, width)); ++width) value = value * 10 + (text[width] - '0');
  if (width != 10 && width != 13) return std::nullopt;
  const int64_t seconds = width == 10 ? value : value / 1000;
  if (seconds < 1420070400 || seconds > 2208988800) return std::nullopt;
  int64_t ns = width == 10 ? value * kSecond : value * (kSecond / 1000);
  if (width == 10 && char_at(text, width) == '.') {
    int64_t unit = kSecond / 10;
    for (++width; digit(char_at(text, width)); ++width, unit /= 10) ns += unit * (text[width] - '0');
  }
  if (char_at(text, width) != ' ' && char_at(text, width) != ']') return std::nullopt;
  return at_moment(Time{ns}, width, true);
}

}  // namespace

std::optional<Stamp> read_stamp(std::string_view text) {
  if (text.size() < 8) return std::nullopt;
  if (!digit(text[0])) return text[0] >= 'A' && text[0] <= 'W' ? named_month(text) : std::nullopt;
  if (text[2] == ':') {
    size_t at = 0;
    const int64_t clock = read_clock(text, at);
    if (clock < 0) return std::nullopt;
    Stamp stamp;
    stamp.day_ns = half_of_day(text, at, clock);
    stamp.used = at;
    return stamp;
  }
  if (text[2] == '-' || text[2] == '/') return month_first(text);
  if (text[2] == '.') return dotted(text);
  if (text[4] == '-' || text[4] == '/') {
    if (auto stamp = iso(text)) return stamp;
    return with_comma(text);
  }
  if (auto stamp = compact(text)) return stamp;
  return epoch(text);
}

std::optional<Stamp> read_glog_stamp(std::string_view text) {
  if (auto stamp = compact(text)) return stamp;
  const bool padded = digit(char_at(text, 3));  // PyTorch writes the month without a leading zero
  const size_t month_width = padded ? 2 : 1;
  const int month = number(text, 0, month_width), day = number(text, month_width, 2);
  if (!valid_date(month, day) || char_at(text, month_width + 2) != ' ') return std::nullopt;
  size_t at = month_width + 3;
  const int64_t clock = read_clock(text, at);
  if (clock < 0) return std::nullopt;
  return month_day(month, day, clock, at);
}

Time latest_before(const Stamp& stamp, Time bound) {
  if (stamp.kind != Stamp::Kind::kMonthDay || !bound.known()) return {};
  const int64_t year = 1970 + bound.ns / kDay / 365;  // right or one too late
  for (int64_t y = year; y >= year - 9; --y) {        // 29 February may lie some years back
    if (stamp.month == 2 && stamp.day == 29 && days_from_civil(y, 3, 1) - days_from_civil(y, 2, 28) != 2) continue;
    const Time at{days_from_civil(y, stamp.month, stamp.day) * kDay + stamp.day_ns};
    if (at.ns <= bound.ns + 2 * kDay) return at;
  }
  return {};
}

Time complete_stamp(const Stamp& stamp, Time last) {
  if (stamp.kind == Stamp::Kind::kFull) return stamp.at;
  if (!last.known()) return {};
  const int64_t today = last.ns / kDay - (last.ns % kDay < 0 ? 1 : 0);
  if (stamp.kind == Stamp::Kind::kMonthDay) {  // the year that puts it nearest to the last moment known
    Time best;
    const int64_t year = 1970 + today / 365;  // right or one too late: the loop covers both
    for (int64_t y = year - 2; y <= year + 1; ++y) {
      const Time at{days_from_civil(y, stamp.month, stamp.day) * kDay + stamp.day_ns};
      const int64_t far = at.ns > last.ns ? at.ns - last.ns : last.ns - at.ns;
      const int64_t best_far = best.ns > last.ns ? best.ns - last.ns : last.ns - best.ns;
      if (!best.known() || far < best_far) best = at;
    }
    return best;
  }
  Time at{today * kDay + stamp.day_ns};
  if (at.ns < last.ns - kLateLine) at.ns += kDay;
  if (at.ns > last.ns + kDay - kLateLine) at.ns -= kDay;
  return at;
}

}  // namespace mw
