#include "read/lines/open_brackets.h"

#include <algorithm>
#include <array>

#include "read/lines/metric_text.h"

namespace mw {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

using metric_text::is_digit;

/// A number, a string, a bracket, or one of the words that Python and JSON print for a value.
bool begins_value(std::string_view text) {
  static constexpr std::array<std::string_view, 19> kWords = {
      "None",   "True", "False",  "true",        "false",       "null",  "nan",       "NaN",       "inf",    "Infinity",
      "array(", "np.",  "numpy.", "OrderedDict", "defaultdict", "dict(", "datetime.", "PosixPath", "tensor("};
  const char c = text[0];
  if (is_digit(c) || std::string_view("\"'-+.[{(<").find(c) != std::string_view::npos) return true;
  return std::any_of(kWords.begin(), kWords.end(), [text](std::string_view word) { return text.starts_with(word); });
}

/// Whether what begins a line is a value by itself: "[12] loss 0.5" is a list with words behind it, "12  0.5" no item.
bool is_item(std::string_view text) {
  constexpr std::string_view kBehind = ",]}):";
  size_t end = 0;
  if (is_digit(text[0])) {
    end = text.find_first_not_of("0123456789.eE+-_");
  } else if (text[0] == '[') {
    for (int depth = 0; end < text.size(); ++end) {
      depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
      if (depth == 0) break;
    }
    if (end == text.size()) return true;  // it goes on
    ++end;
  } else {
    return true;
  }
  end = end == std::string_view::npos ? end : text.find_first_not_of(kBlanks, end);
  return end == std::string_view::npos || kBehind.find(text[end]) != std::string_view::npos;
}

}  // namespace

void OpenBrackets::read(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
      last_ = c;
      continue;
    }
    if (kBlanks.find(c) != std::string_view::npos) continue;
    last_ = c;
    if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '{' || c == '[' || c == '(') {
      if (open_.size() < kDepth) open_.push_back(c);
    } else if (c == '}' || c == ']' || c == ')') {
      const char of = c == '}' ? '{' : c == ']' ? '[' : '(';
      torn_ = torn_ || open_.empty() || open_.back() != of;
      if (!open_.empty()) open_.pop_back();
    }
  }
  torn_ = torn_ || quote != 0;
}

bool OpenBrackets::goes_on_with(std::string_view line) const {
  if (line.empty()) return !torn_;
  if (torn_ || open_.empty()) return false;
  const char c = line[0];
  if (c == '}' || c == ']' || c == ')' || c == ',' || c == ':') return true;
  if (last_ == ':' || open_.back() != '{') return begins_value(line) && is_item(line);
  // A name is due; it is in quotes, or a number with its colon. A string may go on in the next line's quotes.
  if (c == '"' || c == '\'') return true;
  if (last_ != ',' && last_ != '{') return false;
  const size_t digits = line.find_first_not_of("0123456789");
  return is_digit(c) && digits != std::string_view::npos && line[digits] == ':';
}

}  // namespace mw
