#include "read/files/json_value.h"

#include <algorithm>

#include "base/json.h"
#include "base/numbers.h"

namespace mw {
namespace {

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

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
  const size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  if (text.size() > sign && is_digit(text[sign])) {
    size_t used = 0;
    const auto parsed = parse_double_prefix(text, &used);
    if (!parsed || used != text.size()) return false;
    return value = *parsed, true;
  }
  if (text == "true") return value = 1, true;
  if (text == "false") return value = 0, true;
  const std::string_view word = text.substr(std::min(sign, text.size()));
  if (word != "NaN" && word != "nan" && word != "Infinity" && word != "inf") return false;
  return value = parse_double(text).value_or(0), true;
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
