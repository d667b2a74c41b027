#include "base/numbers.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace mw {
namespace {

bool equals_folded(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// ---- Decimal text to the nearest double
// ------------------------------------------------------------------------------ After D. Lemire, "Number parsing at a
// gigabyte per second" (2021): at most 19 digits are an exact integer w, and w * 10^q is rounded from the upper half of
// w times the leading 128 bits of 5^q. What does not fit goes to std::from_chars.

__extension__ using Wide = unsigned __int128;

constexpr int kLeastPower = -27, kMostPower = 55;  // of ten: where 128 bits of 5^q are enough for every w

/// The leading 128 bits of 5^q, rounded down for q >= 0 (exact there), up for q < 0.
constexpr Wide leading_bits(int q) {
  Wide power = 1;
  for (int i = 0; i < (q < 0 ? -q : q); ++i) power *= 5;
  if (q >= 0) {
    while (power >> 127 == 0) power <<= 1;
    return power;
  }
  Wide quotient = 0, rest = 1;  // 1 / 5^-q, one binary digit at a time, from its first 1 on
  for (int bits = 0; bits < 128;) {
    rest <<= 1;
    const bool one = rest >= power;
    if (one) rest -= power;
    if (bits > 0 || one) quotient = quotient << 1 | (one ? 1 : 0), ++bits;
  }
  return quotient + 1;
}

constexpr auto kPowersOfFive = [] {
  std::array<Wide, kMostPower - kLeastPower + 1> made{};
  for (int q = kLeastPower; q <= kMostPower; ++q) made[static_cast<size_t>(q - kLeastPower)] = leading_bits(q);
  return made;
}();

/// w * 10^q for w > 0 and q within the table.
double scale_by_power(uint64_t w, int q) {
  const int shift = std::countl_zero(w);
  const Wide five = kPowersOfFive[static_cast<size_t>(q - kLeastPower)];
  Wide product = static_cast<Wide>(w << shift) * static_cast<uint64_t>(five >> 64);
  constexpr uint64_t kUndecided = 0x1ff;  // the bits below the 55 that decide; all ones: the rest may carry into them
  if ((static_cast<uint64_t>(product >> 64) & kUndecided) == kUndecided) {
    product += static_cast<Wide>(w << shift) * static_cast<uint64_t>(five) >> 64;
  }
  const auto high = static_cast<uint64_t>(product >> 64), low = static_cast<uint64_t>(product);
  const int top = static_cast<int>(high >> 63);
  const int below = top + 9;  // bits under the 54 that are kept: 53 and one to round by
  uint64_t mantissa = high >> below;
  int exponent = ((217706 * q) >> 16) + 63 + top - shift + 1023;  // 217706 / 2^16: log2(10)
  const bool tie = low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << below == high;
  if (tie) mantissa &= ~uint64_t{1};
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >> 53 != 0) mantissa >>= 1, ++exponent;
  const uint64_t bits = (mantissa & ((uint64_t{1} << 52) - 1)) | static_cast<uint64_t>(exponent) << 52;
  return std::bit_cast<double>(bits);
}

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// The high bit of the first of eight bytes, less '0' each, that is no digit; above it, of others as well. 0 when all
/// are.
uint64_t no_digits(uint64_t eight) {
  return (eight | (eight + 0x7676767676767676)) & 0x8080808080808080;  // is over 9
}

/// The number that eight digits make, the first in the lowest byte.
uint64_t join_digits(uint64_t eight) {
  eight = eight * 10 + (eight >> 8);  // pairs of digits, then fours, then all eight
  return ((eight & 0x000000ff000000ff) * (100 + (uint64_t{1'000'000} << 32)) +
          (eight >> 16 & 0x000000ff000000ff) * (1 + (uint64_t{10'000} << 32))) >>
         32;
}

/// Appends the digits at `begin` to `value` (which may wrap round; the caller counts them).
[[gnu::always_inline]] inline const char* take_digits(const char* const begin, const char* end, uint64_t& value) {
  constexpr std::array<uint64_t, 8> kTens = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000};
  const char* at = begin;
  for (; end - at >= 8; at += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, at, 8);
    eight -= 0x3030303030303030;
    const uint64_t stops = no_digits(eight);
    if (stops != 0) {  // the last of them at once, without a jump per digit: how many there are is hard to guess
      const auto count = static_cast<size_t>(std::countr_zero(stops)) / 8;
      if (count == 0) return at;
      value = value * kTens[count] + join_digits(eight << (8 * (8 - count)));
      return at + count;
    }
    value = value * 100'000'000 + join_digits(eight);
  }
  const auto left = static_cast<size_t>(end - at);
  if (left > 0 && at != begin) {  // likewise at the end of the text
    uint64_t eight = 0;
    std::memcpy(&eight, end - 8, 8);
    eight = (eight - 0x3030303030303030) & ~uint64_t{0} << (8 * (8 - left));
    if (no_digits(eight) == 0) {
      value = value * kTens[left] + join_digits(eight);
      return end;
    }
  }
  for (; at != end && is_digit(*at); ++at) value = value * 10 + static_cast<uint64_t>(*at - '0');
  return at;
}

/// An unsigned decimal number at the start of `text`: its length, or 0 when it is none or not for the fast path.
size_t parse_decimal(std::string_view text, double& value) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  uint64_t w = 0;
  int64_t q = 0;
  const char* at = begin;
  for (; at != end && is_digit(*at) && at - begin < 3; ++at) w = w * 10 + static_cast<uint64_t>(*at - '0');
  if (at - begin == 3) at = take_digits(at, end, w);  // most numbers have fewer digits in front of their point
  int64_t digits = at - begin;
  if (digits == 0) return 0;
  if (at != end && *at == '.') {
    const char* const fraction = at + 1;
    at = take_digits(fraction, end, w);
    q = fraction - at;
    digits -= q;
  }
  if (digits > 19) return 0;
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char* sign = at + 1;
    const bool minus = sign != end && *sign == '-';
    if (sign != end && (*sign == '-' || *sign == '+')) ++sign;
    uint64_t exponent = 0;
    const char* const stop = take_digits(sign, end, exponent);
    if (stop == sign || stop - sign > 4) return 0;
    at = stop;
    q += minus ? -static_cast<int64_t>(exponent) : static_cast<int64_t>(exponent);
  }
  if (w == 0) return value = 0, static_cast<size_t>(at - begin);
  if (q < kLeastPower || q > kMostPower) return 0;
  value = q == 0 && w <= uint64_t{1} << 53 ? static_cast<double>(w) : scale_by_power(w, static_cast<int>(q));
  return static_cast<size_t>(at - begin);
}

}  // namespace

std::optional<double> parse_double_prefix(std::string_view text, size_t* used) {
  size_t at = 0;
  bool negative = false;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) negative = text[at++] == '-';
  const auto word = [&](std::string_view name, double value) -> std::optional<double> {
    if (!equals_folded(text.substr(at, name.size()), name)) return std::nullopt;
    *used = at + name.size();
    return negative ? -value : value;
  };
  if (at < text.size() && (text[at] | 32) >= 'a') {
    if (auto v = word("infinity", std::numeric_limits<double>::infinity())) return v;
    if (auto v = word("inf", std::numeric_limits<double>::infinity())) return v;
    if (auto v = word("nan", std::numeric_limits<double>::quiet_NaN())) return v;
    return std::nullopt;
  }
  double value = 0;
  if (const size_t length = parse_decimal(text.substr(at), value); length > 0) {
    *used = at + length;
    return negative ? -value : value;
  }
  const auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (problem == std::errc::invalid_argument) return std::nullopt;
  *used = static_cast<size_t>(end - text.data());
  if (problem == std::errc::result_out_of_range) {
    // from_chars does not say which side; the exponent's sign does.
    const std::string_view token = text.substr(0, *used);
    const size_t e = token.find_first_of("eE");
    const bool tiny = e != std::string_view::npos && e + 1 < token.size() && token[e + 1] == '-';
    value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  }
  return negative ? -value : value;
}

std::optional<double> parse_double(std::string_view token) {
  size_t used = 0;
  const auto value = parse_double_prefix(token, &used);
  if (!value || used != token.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_int(std::string_view token) {
  if (!token.empty() && token[0] == '+') token.remove_prefix(1);
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (problem != std::errc() || end != token.data() + token.size() || token.empty()) return std::nullopt;
  return value;
}

std::string format_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char out[40];
  const auto [end, problem] = std::to_chars(out, out + sizeof out, value);
  return problem == std::errc() ? std::string(out, end) : std::string("0");
}

std::string format_short(double value, int digits) {
  if (!std::isfinite(value)) return format_double(value);
  char out[48];
  std::snprintf(out, sizeof out, "%.*g", digits, value);
  return out;
}

std::string format_money(double amount) {
  if (!std::isfinite(amount)) return format_double(amount);
  char text[400];
  std::snprintf(text, sizeof text, "%.2f", amount);
  std::string out = text;
  while (out.ends_with('0')) out.pop_back();
  if (out.ends_with('.')) out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string format_bytes(double bytes) {
  const char* const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  while (std::fabs(bytes) >= 1000 && unit < 5) {
    bytes /= 1000;
    ++unit;
  }
  char out[48];
  std::snprintf(out, sizeof out, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return out;
}

}  // namespace mw
