#include "read/interpret/decimal_commas.h"

#include <algorithm>

#include "base/byte_set.h"
#include "read/lines/metric_line.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kGroup = 3;       // digits between the commas of thousands
constexpr size_t kNameBytes = 60;  // longer ones are no figure's

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) {
  static constexpr ByteSet kName("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/@-");
  return kName.holds(c) || static_cast<unsigned char>(c) >= 0x80;
}

/// The place of the next comma, or other byte `c`, that stands between two digits.
size_t between_digits(std::string_view text, char c, size_t from) {
  for (size_t at = text.find(c, from); at != kNone; at = text.find(c, at + 1)) {
    if (at > 0 && at + 1 < text.size() && is_digit(text[at - 1]) && is_digit(text[at + 1])) return at;
  }
  return kNone;
}

/// The name that the number from `begin` on belongs to: "reward=", "mean reward: ", "'kl': ". "" when it has none: of a
/// list, a time, a sentence's beginning.
std::string_view name_before(std::string_view text, size_t begin) {
  static constexpr ByteSet kBetween(" \t'\"");
  size_t end = begin;
  if (end > 0 && (text[end - 1] == '-' || text[end - 1] == '+')) --end;
  while (end > 0 && kBetween.holds(text[end - 1])) --end;
  if (end > 0 && (text[end - 1] == '=' || text[end - 1] == ':')) {
    --end;
  } else if (end == begin) {
    return {};
  }
  while (end > 0 && kBetween.holds(text[end - 1])) --end;
  size_t first = end;
  while (first > 0 && is_name(text[first - 1])) --first;
  while (first < end && is_digit(text[first])) ++first;  // "12:30:45,123" is a time
  return end - first > kNameBytes ? std::string_view() : text.substr(first, end - first);
}

/// "1,204", "16,802,381"
bool is_grouped(std::string_view number) {
  const size_t first = number.find(',');
  if (first == 0 || first > kGroup || number[0] == '0') return false;
  for (size_t comma = first; comma != kNone; comma = number.find(',', comma + 1)) {
    const size_t next = std::min(number.find(',', comma + 1), number.size());
    if (next - comma - 1 != kGroup) return false;
  }
  return true;
}

}  // namespace

/// The numbers with commas and a name.
void DecimalCommas::collect(std::string_view text, const Measures& measures) {
  static constexpr ByteSet kBehind(" \t,;|)]}'\"%");
  numbers_.clear();
  for (size_t at = between_digits(text, ',', 0); at != kNone; at = between_digits(text, ',', at)) {
    Number number;
    number.begin = number.end = at;
    while (number.begin > 0 && is_digit(text[number.begin - 1])) --number.begin;
    while (number.end < text.size() &&
           (is_digit(text[number.end]) ||
            (text[number.end] == ',' && number.end + 1 < text.size() && is_digit(text[number.end + 1])))) {
      ++number.end;
    }
    size_t exponent = number.end;
    if (exponent + 2 < text.size() && (text[exponent] | 32) == 'e') {
      ++exponent;
      if (text[exponent] == '-' || text[exponent] == '+') ++exponent;
      while (exponent < text.size() && is_digit(text[exponent])) number.end = ++exponent;
    }
    at = number.end;
    if (number.end < text.size() && !kBehind.holds(text[number.end])) continue;
    const std::string_view name = name_before(text, number.begin);
    if (name.empty()) continue;
    const std::string_view whole = text.substr(number.begin, number.end - number.begin);
    number.decimal = is_decimal_comma(whole);
    number.thousands = is_grouped(whole);
    number.measured = measures(name);
    numbers_.push_back(number);
  }
}

/// A figure of training has a decimal's comma, and none has a point.
bool DecimalCommas::speaks_in_commas(std::string_view text, const Measures& measures) const {
  const auto decimals = std::count_if(numbers_.begin(), numbers_.end(), [](const Number& one) { return one.decimal; });
  const auto shows = [](const Number& one) { return one.decimal && one.measured; };
  if (decimals < (points_ ? 2 : 1) || std::none_of(numbers_.begin(), numbers_.end(), shows)) return false;
  for (size_t at = between_digits(text, '.', 0); at != kNone; at = between_digits(text, '.', at + 1)) {
    while (at > 0 && is_digit(text[at - 1])) --at;
    if (const std::string_view name = name_before(text, at); !name.empty() && measures(name)) return false;
    at = text.find('.', at);
  }
  return true;
}

bool DecimalCommas::read(std::string_view text, const Measures& measures, std::string& out) {
  if (between_digits(text, ',', 0) == kNone) return false;
  collect(text, measures);
  if (numbers_.empty()) return false;
  const bool speaks = speaks_in_commas(text, measures);
  commas_ = commas_ || speaks;
  out.clear();
  size_t done = 0;
  for (const Number& number : numbers_) {
    const std::string_view whole = text.substr(number.begin, number.end - number.begin);
    const bool one = std::count(whole.begin(), whole.end(), ',') == 1;
    const bool decimal = speaks ? one : commas_ && !points_ && one && (number.decimal || number.measured);
    out.append(text.substr(done, number.begin - done));
    done = number.end;
    if (decimal) {
      const size_t comma = whole.find(',');
      out.append(whole.substr(0, comma)).append(".").append(whole.substr(comma + 1));
    } else if (number.thousands && (!number.measured || !one || points_)) {
      std::copy_if(whole.begin(), whole.end(), std::back_inserter(out), [](char c) { return c != ','; });
    } else {
      out.append(number.measured ? "?" : whole);
    }
  }
  out.append(text.substr(done));
  return true;
}

}  // namespace mw
