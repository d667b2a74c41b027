#include "sources/json_value.h"

#include <array>
#include <cstdint>
#include <limits>

#include "base/json.h"
#include "base/numbers.h"

namespace mw {
namespace {

constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Words and other shapes than the fast path knows.
bool read_slowly(std::string_view text, double& value) {
  if (text == "true") return value = 1, true;
  if (text == "false") return value = 0, true;
  const bool word = text == "NaN" || text == "Infinity" || text == "-Infinity";
  const bool number = !text.empty() && (is_digit(text[0]) || (text[0] == '-' && text.size() > 1 && is_digit(text[1])));
  if (!word && !number) return false;
  const auto parsed = parse_double(text);
  if (parsed) value = *parsed;
  return parsed.has_value();
}

class OneString : public JsonLeaves {
 public:
  explicit OneString(std::string& out) : out_(out) {}
  void number(std::string_view, double) override {}
  void string(std::string_view, std::string_view value) override { out_.assign(value), found = true; }
  bool found = false;

 private:
  std::string& out_;
};

}  // namespace

bool read_json_number(std::string_view text, double& value) {
  // Numbers of at most 2^53 as digits and a power of ten of at most 22 are exact with one operation on doubles
  // (Clinger, "How to read floating point numbers accurately", 1990); all others go to std::from_chars.
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  const char* const first = at;
  uint64_t digits = 0;
  for (; at != end && is_digit(*at); ++at) digits = digits * 10 + static_cast<uint64_t>(*at - '0');
  if (at == first) return read_slowly(text, value);
  int64_t count = at - first;
  int64_t power = 0;
  if (at != end && *at == '.') {
    const char* const fraction = ++at;
    for (; at != end && is_digit(*at); ++at) digits = digits * 10 + static_cast<uint64_t>(*at - '0');
    power = fraction - at;
    count -= power;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    const bool minus = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    if (at == end || end - at > 4) return read_slowly(text, value);
    int64_t exponent = 0;
    for (; at != end && is_digit(*at); ++at) exponent = exponent * 10 + (*at - '0');
    power += minus ? -exponent : exponent;
  }
  constexpr uint64_t kExact = uint64_t{1} << 53;
  if (at != end || count > 19 || digits > kExact || power < -22 || power > 22) return read_slowly(text, value);
  const auto whole = static_cast<double>(digits);
  const double size =
      power < 0 ? whole / kPowers[static_cast<size_t>(-power)] : whole * kPowers[static_cast<size_t>(power)];
  value = negative ? -size : size;
  return true;
}

bool read_json_string(std::string_view text, std::string& scratch, std::string_view& value) {
  if (text.size() < 2 || text.front() != '"') return false;
  const size_t end = text.find_first_of("\"\\", 1);
  if (end == std::string_view::npos) return false;
  if (text[end] == '"') {
    value = text.substr(1, end - 1);
    return end + 1 == text.size();
  }
  OneString leaf(scratch);
  if (!for_each_leaf(text, leaf) || !leaf.found) return false;
  value = scratch;
  return true;
}

size_t skip_json_space(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) ++at;
  return at;
}

size_t skip_json_value(std::string_view text, size_t at) {
  at = skip_json_space(text, at);
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      ++at;
      while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
      if (at >= text.size()) return std::string_view::npos;
      ++at;
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || c == ':' || c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
      return at;
    }
    ++at;
  }
  return depth == 0 ? at : std::string_view::npos;
}

}  // namespace mw
