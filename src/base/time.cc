#include "base/time.h"

#include <cmath>
#include <cstdio>

namespace mw {
namespace {

struct Civil {
  int64_t year;
  int month, day;
};

Civil civil_from_days(int64_t days) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t doe = days - era * 146097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const int64_t mp = (5 * doy + 2) / 153;
  const int month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  return {yoe + era * 400 + (month <= 2 ? 1 : 0), month, static_cast<int>(doy - (153 * mp + 2) / 5 + 1)};
}

/// Reads exactly `width` digits at `at`; -1 when they are not there.
int digits(std::string_view text, size_t at, size_t width) {
  if (at + width > text.size()) return -1;
  int value = 0;
  for (size_t i = at; i < at + width; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/// A fraction of a second at `at` ("." or "," and digits); returns the nanoseconds and moves `at` behind it.
int64_t fraction_ns(std::string_view text, size_t& at) {
  if (at + 1 >= text.size() || (text[at] != '.' && text[at] != ',')) return 0;
  size_t i = at + 1;
  int64_t ns = 0, unit = 100'000'000;
  const size_t begin = i;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i, unit /= 10) ns += unit * (text[i] - '0');
  if (i == begin) return 0;
  at = i;
  return ns;
}

/// A zone at `at`; returns its offset from UTC in seconds and moves `at` behind it.
int64_t zone_s(std::string_view text, size_t& at) {
  if (at >= text.size()) return 0;
  if (text[at] == 'Z') {
    ++at;
    return 0;
  }
  if (text[at] != '+' && text[at] != '-') return 0;
  const int hours = digits(text, at + 1, 2);
  if (hours < 0) return 0;
  const bool colon = at + 3 < text.size() && text[at + 3] == ':';
  const int minutes = digits(text, at + 3 + (colon ? 1 : 0), 2);
  if (minutes < 0) return 0;
  const int64_t offset = (hours * 60 + minutes) * 60LL;
  const int64_t sign = text[at] == '-' ? -1 : 1;
  at += 5 + (colon ? 1 : 0);
  return sign * offset;
}

}  // namespace

int64_t days_from_civil(int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t yoe = year - era * 400;
  const int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + doe - 719468;
}

std::string format_utc(Time t) {
  if (!t.known()) return "";
  int64_t s = t.ns / 1'000'000'000;
  int64_t rest = t.ns % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --s;
  }
  int64_t days = s / 86400;
  int64_t of_day = s % 86400;
  if (of_day < 0) {
    of_day += 86400;
    --days;
  }
  const Civil c = civil_from_days(days);
  char out[64];
  int n =
      std::snprintf(out, sizeof out, "%04lld-%02d-%02dT%02d:%02d:%02d", static_cast<long long>(c.year), c.month, c.day,
                    static_cast<int>(of_day / 3600), static_cast<int>(of_day / 60 % 60), static_cast<int>(of_day % 60));
  std::string text(out, static_cast<size_t>(n));
  if (rest / 1'000'000 != 0) {
    n = std::snprintf(out, sizeof out, ".%03d", static_cast<int>(rest / 1'000'000));
    text.append(out, static_cast<size_t>(n));
  }
  return text + "Z";
}

std::string format_duration(Duration d) {
  const double s = std::abs(d.seconds());  // of the double: the least int64_t has no positive counterpart
  char out[64];
  if (s < 1) {
    std::snprintf(out, sizeof out, "%.0f ms", s * 1e3);
  } else if (s < 60) {
    std::snprintf(out, sizeof out, "%.1f s", s);
  } else if (s < 3600) {
    std::snprintf(out, sizeof out, "%dm %02ds", static_cast<int>(s) / 60, static_cast<int>(s) % 60);
  } else if (s < 172800) {
    std::snprintf(out, sizeof out, "%dh %02dm", static_cast<int>(s / 3600), static_cast<int>(s / 60) % 60);
  } else {
    std::snprintf(out, sizeof out, "%dd %02dh", static_cast<int>(s / 86400), static_cast<int>(s / 3600) % 24);
  }
  return d.ns < 0 ? std::string("-").append(out) : out;
}

std::optional<Time> parse_time(std::string_view text, size_t* used) {
  const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  constexpr int kLastYear = 2200;  // Time's nanoseconds end in 2262
  if (year < 1970 || year > kLastYear || month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  if ((text[4] != '-' && text[4] != '/') || text[7] != text[4] || text.size() < 19) return std::nullopt;
  if (text[10] != 'T' && text[10] != ' ' && text[10] != '_') return std::nullopt;
  const int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 60) return std::nullopt;
  if (text[13] != ':' || text[16] != ':') return std::nullopt;
  size_t at = 19;
  const int64_t ns = fraction_ns(text, at);
  const int64_t offset = zone_s(text, at);
  if (used != nullptr) *used = at;
  const int64_t s =
      days_from_civil(year, month, day) * 86400 + hour * int64_t{3600} + minute * int64_t{60} + second - offset;
  return Time{s * 1'000'000'000 + ns};
}

}  // namespace mw
