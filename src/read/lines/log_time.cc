#include "read/lines/log_time.h"

#include <algorithm>
#include <array>

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

bool ends_stamp(char c) { return c == '\0' || c == ' ' || c == ']' || c == ')' || c == ':' || c == ',' || c == '|'; }

/// "09:08:11 PM": moves `at` behind the half of the day that follows a clock, and gives the clock by it.
int64_t half_of_day(std::string_view text, size_t& at, int64_t clock) {
  constexpr int64_t kNoon = kDay / 2, kOne = 3600 * kSecond;
  const size_t half = char_at(text, at) == ' ' ? at + 1 : at;
  const char letter = static_cast<char>(char_at(text, half) & ~0x20);
  if ((letter != 'A' && letter != 'P') || (char_at(text, half + 1) & ~0x20) != 'M') return clock;
  if (!ends_stamp(char_at(text, half + 2)) || clock < kOne || clock >= kNoon + kOne) return clock;
  at = half + 2;
  const int64_t morning = clock >= kNoon ? clock - kNoon : clock;
  return letter == 'P' ? morning + kNoon : morning;
}

/// What a clock that names its zone so is ahead of UTC, in minutes. What names several zones is none of them: CST is
/// that of Chicago and of Shanghai, IST that of Delhi, Dublin and Jerusalem, BST that of London and of Dhaka.
struct NamedZone {
  std::string_view name;
  int minutes;
};
constexpr int kSeveral = 24 * 60;
constexpr std::array kZones = {
    NamedZone{"UTC", 0},       NamedZone{"GMT", 0},    NamedZone{"JST", 540},      NamedZone{"KST", 540},
    NamedZone{"SGT", 480},     NamedZone{"HKT", 480},  NamedZone{"CET", 60},       NamedZone{"CEST", 120},
    NamedZone{"EET", 120},     NamedZone{"EEST", 180}, NamedZone{"MSK", 180},      NamedZone{"EST", -300},
    NamedZone{"EDT", -240},    NamedZone{"CDT", -300}, NamedZone{"MST", -420},     NamedZone{"MDT", -360},
    NamedZone{"PST", -480},    NamedZone{"PDT", -420}, NamedZone{"AEST", 600},     NamedZone{"AEDT", 660},
    NamedZone{"NZST", 720},    NamedZone{"NZDT", 780}, NamedZone{"CST", kSeveral}, NamedZone{"IST", kSeveral},
    NamedZone{"BST", kSeveral}};

/// Places whose clocks have no summer time, by which the zone database calls a zone. That of another place is not known
/// from its name alone.
constexpr std::array kPlaces = {NamedZone{"Asia/Shanghai", 480},
                                NamedZone{"Asia/Chongqing", 480},
                                NamedZone{"Asia/Hong_Kong", 480},
                                NamedZone{"Asia/Taipei", 480},
                                NamedZone{"Asia/Singapore", 480},
                                NamedZone{"Asia/Kuala_Lumpur", 480},
                                NamedZone{"Asia/Manila", 480},
                                NamedZone{"Asia/Tokyo", 540},
                                NamedZone{"Asia/Seoul", 540},
                                NamedZone{"Asia/Kolkata", 330},
                                NamedZone{"Asia/Calcutta", 330},
                                NamedZone{"Asia/Bangkok", 420},
                                NamedZone{"Asia/Ho_Chi_Minh", 420},
                                NamedZone{"Asia/Jakarta", 420},
                                NamedZone{"Asia/Dubai", 240},
                                NamedZone{"Asia/Riyadh", 180},
                                NamedZone{"Europe/Moscow", 180},
                                NamedZone{"Europe/Istanbul", 180},
                                NamedZone{"Australia/Brisbane", 600},
                                NamedZone{"America/Sao_Paulo", -180},
                                NamedZone{"America/Phoenix", -420},
                                NamedZone{"Etc/UTC", 0},
                                NamedZone{"Etc/GMT", 0}};

template <size_t N>
const NamedZone* zone_called(const std::array<NamedZone, N>& zones, std::string_view text) {
  const auto* const found = std::find_if(zones.begin(), zones.end(), [text](const NamedZone& zone) {
    if (!text.starts_with(zone.name)) return false;
    const char next = char_at(text, zone.name.size());
    return ends_stamp(next) || (zone.name.size() == 3 && zone.minutes == 0 && (next == '+' || next == '-'));
  });
  return found == zones.end() ? nullptr : found;
}

/// "+0900", "+09:00", "+09", and of one digit behind the letters UTC, "+9": moves `at` behind it and gives the minutes
/// ahead of UTC; kSeveral where there is none.
int read_offset(std::string_view text, size_t& at, bool behind_letters) {
  constexpr int kMostHours = 14;
  if (char_at(text, at) != '+' && char_at(text, at) != '-') return kSeveral;
  const size_t width = digit(char_at(text, at + 2)) ? 2 : 1;
  const int hours = number(text, at + 1, width);
  if (hours < 0 || hours > kMostHours || (width == 1 && !behind_letters)) return kSeveral;
  size_t end = at + 1 + width;
  const size_t colon = char_at(text, end) == ':' ? 1 : 0;
  int minutes = number(text, end + colon, 2);
  if (minutes >= 0) {
    end += colon + 2;
  } else if (!ends_stamp(char_at(text, end))) {
    return kSeveral;
  }
  if (minutes >= 60 || digit(char_at(text, end))) return kSeveral;
  minutes = (hours * 60 + std::max(minutes, 0)) * (text[at] == '-' ? -1 : 1);
  at = end;
  return minutes;
}

/// The zone behind a clock, by letters, as "+0900" or as both ("UTC+9", "GMT+0900"), in brackets or not, or as the
/// name of a place: moves `at` behind it, takes it off the moment, and says whether it is known.
bool take_zone(std::string_view text, size_t& at, Time& moment) {
  size_t end = at;
  const bool space = char_at(text, end) == ' ';
  const bool bracket = space && char_at(text, end + 1) == '(';
  end += (space ? 1 : 0) + (bracket ? 1 : 0);
  int minutes = kSeveral;
  const std::string_view rest = text.substr(std::min(end, text.size()));
  const NamedZone* const named = space ? zone_called(kZones, rest) : nullptr;
  const NamedZone* const place = space ? zone_called(kPlaces, rest) : nullptr;
  if (named != nullptr) {
    minutes = named->minutes;
    end += named->name.size();
    if (!ends_stamp(char_at(text, end)) && (minutes = read_offset(text, end, true)) == kSeveral) return false;
  } else if (place != nullptr) {
    minutes = place->minutes;
    end += place->name.size();
  } else if ((minutes = read_offset(text, end, false)) == kSeveral) {
    return false;
  }
  if (bracket && char_at(text, end) != ')') return false;
  at = end + (bracket ? 1 : 0);
  if (minutes == kSeveral) return false;
  moment.ns -= minutes * 60 * kSecond;
  return true;
}

int month_by_name(std::string_view text) {
  constexpr std::string_view kNames = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const size_t at = text.size() < 3 ? std::string_view::npos : kNames.find(text.substr(0, 3));
  return at == std::string_view::npos || at % 3 != 0 ? 0 : static_cast<int>(at / 3) + 1;
}

bool is_weekday(std::string_view name) {
  constexpr std::string_view kNames = "MonTueWedThuFriSatSun";
  const size_t at = name.size() != 3 ? std::string_view::npos : kNames.find(name);
  return at != std::string_view::npos && at % 3 == 0;
}

bool weekday(std::string_view text) { return char_at(text, 3) == ' ' && is_weekday(text.substr(0, 3)); }

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
  if (text.substr(19, used - 19).find_first_of("Z+-") != std::string_view::npos) return at_moment(*at, used, true);
  Time moment = *at;
  const int64_t clock = moment.ns % kDay + (moment.ns % kDay < 0 ? kDay : 0);
  moment.ns += half_of_day(text, used, clock) - clock;
  const bool zoned = take_zone(text, used, moment);
  return at_moment(moment, used, zoned);
}

/// "090811", six digits and no more, at `at`; moves `at` behind it. Nanoseconds since midnight, or -1.
int64_t read_bare_clock(std::string_view text, size_t& at) {
  const int hour = number(text, at, 2), minute = number(text, at + 2, 2), second = number(text, at + 4, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return -1;
  if (!ends_stamp(char_at(text, at + 6))) return -1;
  at += 6;
  return ((hour * 60LL + minute) * 60 + second) * kSecond;
}

/// "20260219-09:08:11.482", "20260219 09:08:11" and "20260219_090811".
std::optional<Stamp> compact(std::string_view text) {
  const int year = number(text, 0, 4), month = number(text, 4, 2), day = number(text, 6, 2);
  if (year < 1970 || year > 2200 || !valid_date(month, day)) return std::nullopt;
  const char separator = char_at(text, 8);
  if (separator != '-' && separator != ' ' && separator != 'T' && separator != '_') return std::nullopt;
  size_t at = 9;
  int64_t clock = read_clock(text, at);
  if (clock < 0 && separator != ' ') clock = read_bare_clock(text, at);
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

/// "[Thu ]Feb 19 09:08:11[ PM][ CET][ 2026]".
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
  const int64_t whole = half_of_day(text, behind, clock);
  Time ahead;
  const bool zoned = take_zone(text, behind, ahead);
  const int year = char_at(text, behind) == ' ' ? number(text, behind + 1, 4) : -1;
  if (year >= 1970 && year <= 2200 && !digit(char_at(text, behind + 5))) {
    Stamp stamp = full(year, month, day, whole, behind + 5);
    stamp.at.ns += ahead.ns;
    stamp.zoned = zoned;
    return stamp;
  }
  return month_day(month, day, clock, at);
}

/// "[Thu[,] ]19 Feb 2026 09:08:11[ PM][ +0100]", "19-Feb-2026 09:08:11", "19/Feb/2026:09:08:11 +0000".
std::optional<Stamp> named_month_second(std::string_view text) {
  size_t at = 0;
  if (!digit(char_at(text, 0))) {
    const bool comma = char_at(text, 3) == ',' && char_at(text, 4) == ' ';
    if (!weekday(text) && !(comma && is_weekday(text.substr(0, 3)))) return std::nullopt;
    at = comma ? 5 : 4;
  }
  const size_t width = digit(char_at(text, at + 1)) ? 2 : 1;
  const int day = number(text, at, width);
  const char separator = char_at(text, at += width);
  if (separator != ' ' && separator != '-' && separator != '/') return std::nullopt;
  const int month = month_by_name(text.substr(std::min(at + 1, text.size())));
  const int year = char_at(text, at + 4) == separator ? number(text, at + 5, 4) : -1;
  if (!valid_date(month, day) || year < 1970 || year > 2200) return std::nullopt;
  at += 9;
  if (char_at(text, at) != ' ' && !(separator == '/' && char_at(text, at) == ':')) return std::nullopt;
  const int64_t clock = read_clock(text, ++at);
  if (clock < 0) return std::nullopt;
  const int64_t whole = half_of_day(text, at, clock);
  Stamp stamp = full(year, month, day, whole, at);
  stamp.zoned = take_zone(text, at, stamp.at);
  stamp.used = at;
  return stamp;
}

/// A number of one or two digits before `unit`; moves `at` behind both. -1: it is none.
int before_unit(std::string_view text, size_t& at, std::string_view unit) {
  const size_t width = digit(char_at(text, at + 1)) ? 2 : 1;
  const int value = number(text, at, width);
  if (value < 0 || !text.substr(std::min(at + width, text.size())).starts_with(unit)) return -1;
  at += width + unit.size();
  return value;
}

/// "2026年2月19日 09:08:11"
std::optional<Stamp> chinese(std::string_view text) {
  constexpr std::string_view kYear = "年", kMonth = "月", kDayUnit = "日";
  const int year = number(text, 0, 4);
  if (year < 1970 || year > 2200 || !text.substr(4).starts_with(kYear)) return std::nullopt;
  size_t at = 4 + kYear.size();
  const int month = before_unit(text, at, kMonth), day = month < 0 ? -1 : before_unit(text, at, kDayUnit);
  if (!valid_date(month, day)) return std::nullopt;
  if (char_at(text, at) == ' ') ++at;
  const int64_t clock = read_clock(text, at);
  if (clock < 0) return std::nullopt;
  return full(year, month, day, clock, at);
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
  if (!digit(text[0])) {
    if (text[0] < 'A' || text[0] > 'W') return std::nullopt;
    const auto stamp = named_month(text);
    return stamp ? stamp : named_month_second(text);
  }
  if (text[2] == ':') {
    size_t at = 0;
    const int64_t clock = read_clock(text, at);
    if (clock < 0) return std::nullopt;
    Stamp stamp;
    stamp.day_ns = half_of_day(text, at, clock);
    stamp.used = at;
    return stamp;
  }
  const char behind = text[digit(text[1]) ? 2 : 1];
  if ((behind == '-' || behind == '/' || behind == ' ') && text.size() > 12) {
    if (auto stamp = named_month_second(text)) return stamp;
  }
  if (text[2] == '-' || text[2] == '/') return month_first(text);
  if (text[2] == '.') return dotted(text);
  if (text[4] == '-' || text[4] == '/') {
    if (auto stamp = iso(text)) return stamp;
    return with_comma(text);
  }
  if (auto stamp = compact(text)) return stamp;
  if (auto stamp = chinese(text)) return stamp;
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
