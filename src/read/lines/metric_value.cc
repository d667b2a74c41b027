// What one value of a metric line says: a number however it is wrapped, a duration.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "read/lines/metric_line.h"
#include "read/lines/metric_text.h"

namespace mw {
namespace {

using metric_text::is_digit;
using metric_text::is_letter;
using metric_text::kNone;
using metric_text::starts_with;

// "np.float64(0.5)" and "tensor(0.5, device=...)" -> "0.5"; "" when `text` is no such call.
std::string_view inside_call(std::string_view text) {
  const size_t open = text.find('(');
  if (open == kNone || open == 0 || open > 40 || text.back() != ')') return {};
  for (size_t i = 0; i < open; ++i) {
    const char c = text[i];
    if (!is_letter(c) && !is_digit(c) && c != '.' && c != '_') return {};
  }
  if (!is_letter(text[0])) return {};
  std::string_view inner = text.substr(open + 1, text.size() - open - 2);
  inner = trim(inner.substr(0, inner.find(',')));
  if (inner.size() >= 2 && inner.front() == '[' && inner.back() == ']') inner = inner.substr(1, inner.size() - 2);
  return inner;
}

bool word_number(std::string_view text, double* value) {
  struct Word {
    std::string_view text;
    double value;
  };
  static constexpr std::array<Word, 4> kWords = {{{"True", 1}, {"False", 0}, {"true", 1}, {"false", 0}}};
  for (const Word& word : kWords) {
    if (text == word.text) {
      *value = word.value;
      return true;
    }
  }
  return false;
}

// "1,234,567" with well-formed groups.
bool grouped_number(std::string_view text, double* value) {
  if (text.size() > 24 || text[0] == '0' || text.find(',') == kNone) return false;
  std::string plain;
  size_t digits = 0;
  bool grouped = false;
  for (const char c : text) {
    if (c == ',') {
      if (digits == 0 || digits > 3 || (grouped && digits != 3)) return false;
      grouped = true;
      digits = 0;
      continue;
    }
    if (is_digit(c)) ++digits;
    if (c == '.' && digits != 3) return false;
    plain.push_back(c);
  }
  if (grouped && digits != 3 && text.find('.') == kNone) return false;
  const auto number = parse_double(plain);
  if (number) *value = *number;
  return number.has_value();
}

bool decimal_comma_number(std::string_view text, double* value) {
  if (!is_decimal_comma(text)) return false;
  std::string plain(text);
  plain[plain.find(',')] = '.';
  const auto number = parse_double(plain);
  if (number) *value = *number;
  return number.has_value();
}

}  // namespace

bool is_decimal_comma(std::string_view text) {
  constexpr size_t kLongest = 32, kGroup = 3;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const size_t comma = text.find(',');
  if (text.size() > kLongest || comma == 0 || comma == kNone) return false;
  size_t end = comma + 1;
  while (end < text.size() && is_digit(text[end])) ++end;
  const std::string_view whole = text.substr(0, comma), exponent = text.substr(end);
  if (!std::all_of(whole.begin(), whole.end(), is_digit) || end == comma + 1) return false;
  if (!exponent.empty()) {
    const bool is_exponent = (exponent[0] | 32) == 'e' && exponent.size() > 1;
    return is_exponent && parse_double(cat("1", exponent)).has_value();
  }
  if (whole.size() > 1 && whole[0] == '0') return false;
  return whole == "0" || whole.size() > kGroup || end - comma - 1 != kGroup;
}

bool metric_number(std::string_view text, double* value) {
  text = trim(text);
  if (text.empty()) return false;
  if (text.size() >= 2 && (text[0] == '\'' || text[0] == '"') && text.back() == text[0]) {
    text = trim(text.substr(1, text.size() - 2));
    if (text.empty()) return false;
  }
  if (text.size() > 2 && text.front() == '[' && text.back() == ']' && text.find(',') == kNone) {
    text = trim(text.substr(1, text.size() - 2));  // a list of one
    if (text.empty()) return false;
  }
  const char first = text[0];
  if (is_digit(first) || first == '-' || first == '+' || first == '.' || (first | 32) == 'n' || (first | 32) == 'i') {
    if (const auto number = parse_double(text)) {
      *value = *number;
      return true;
    }
  }
  if (is_digit(first) && grouped_number(text, value)) return true;
  if ((is_digit(first) || first == '-' || first == '+') && decimal_comma_number(text, value)) return true;
  if (word_number(text, value)) return true;
  const std::string_view inner = inside_call(text);
  return !inner.empty() && metric_number(inner, value);
}

bool metric_duration(std::string_view text, double* seconds) {
  text = trim(text);
  double total = 0;
  bool any = false;
  size_t colons = 0;
  while (!text.empty()) {
    size_t used = 0;
    if (!is_digit(text[0])) return false;
    const auto number = parse_double_prefix(text, &used);
    if (!number) return false;
    text = text.substr(used);
    if (starts_with(text, ":") && colons < 3) {
      total = (total + *number) * 60;
      text.remove_prefix(1);
      ++colons;
      continue;
    }
    if (text.empty() && colons > 0) {
      *seconds = total + *number;
      return true;
    }
    text = trim(text);
    struct Unit {
      std::string_view name;
      double seconds;
    };
    static constexpr std::array<Unit, 9> kUnits = {{{"ms", 1e-3},
                                                    {"us", 1e-6},
                                                    {"sec", 1},
                                                    {"secs", 1},
                                                    {"s", 1},
                                                    {"min", 60},
                                                    {"m", 60},
                                                    {"h", 3600},
                                                    {"d", 86400}}};
    size_t end = 0;
    while (end < text.size() && is_letter(text[end])) ++end;
    const std::string_view name = text.substr(0, end);
    bool known = false;
    for (const Unit& unit : kUnits) {
      if (name != unit.name) continue;
      total += *number * unit.seconds;
      known = true;
    }
    if (!known || colons > 0) return false;
    any = true;
    text = trim(text.substr(end));
  }
  *seconds = total;
  return any;
}

/// "reward mean/min/max" and "0.5/0.0/1.0": as many figures as are named. False when it is nothing of that kind.
bool MetricLine::statistics(std::string_view key, std::string_view values) {
  constexpr size_t kMost = 6;
  std::string_view names = key;
  while (names.ends_with(')') || names.ends_with(']')) names.remove_suffix(1);
  const size_t before = names.find_last_of(" ([:_", names.find('/'));
  if (before == kNone || names.find('/') == kNone) return false;
  std::string_view base = trim(names.substr(0, before));
  while (!base.empty() && !is_letter(base.back()) && !is_digit(base.back())) base.remove_suffix(1);
  names.remove_prefix(before + 1);
  if (base.empty()) return false;
  std::array<std::pair<std::string_view, double>, kMost> found;
  size_t count = 0;
  for (bool more = true; more; ++count) {
    const size_t name_end = names.find('/'), value_end = values.find('/');
    if (count == kMost || (name_end == kNone) != (value_end == kNone)) return false;
    auto& [name, number] = found[count];
    name = trim(names.substr(0, name_end));
    if (!metric_text::is_statistic_name(name) || !metric_number(trim(values.substr(0, value_end)), &number))
      return false;
    more = name_end != kNone;
    if (more) names.remove_prefix(name_end + 1);
    if (more) values.remove_prefix(value_end + 1);
  }
  for (size_t i = 0; i < count && numbers_.size() < kReadingLimit; ++i)
    numbers_.push_back({keep(base, found[i].first, '_'), found[i].second});
  return true;
}

bool ends_non_finite(std::string_view text) {
  static constexpr std::string_view kBefore = " :=|\t+-";
  text = text.substr(0, text.find_last_not_of(" \t|,;}") + 1);
  for (const std::string_view word : {"nan", "inf", "infinity"}) {
    if (text.size() <= word.size() || !contains_folded(text.substr(text.size() - word.size()), word)) continue;
    if (kBefore.find(text[text.size() - word.size() - 1]) != kNone) return true;
  }
  return false;
}

}  // namespace mw
