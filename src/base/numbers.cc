#include "base/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdio>
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
