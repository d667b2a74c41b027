#include "read/lines/logged_message.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The end of the string whose text begins at `at`: its closing quote.
size_t end_of_string(std::string_view text, size_t at) {
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at < text.size() ? at : kNone;
}

/// Is a member's value a number, outside of text[begin, end), and no logger's?
bool has_figures(std::string_view text, size_t begin, size_t end) {
  for (size_t at = text.find("\":"); at != kNone; at = text.find("\":", at + 1)) {
    const size_t value = text.find_first_not_of(' ', at + 2);
    if (value == kNone || (!is_digit(text[value]) && text[value] != '-') || (at >= begin && at < end)) continue;
    const size_t open = text.rfind('"', at - 1);
    if (open == kNone || !is_logger_name(text.substr(open + 1, at - open - 1))) return true;
  }
  return false;
}

/// What the text of a JSON string says, on one line. Letters that are written as numbers stay as they are written.
void unescape(std::string_view text, std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
    if (next == '"' || next == '\\' || next == '/') {
      out.push_back(next);
      ++i;
    } else if (next == 'n' || next == 'r' || next == 't') {
      out.push_back(next == 't' ? '\t' : ' ');
      ++i;
    } else {
      out.push_back(text[i]);
    }
  }
}

}  // namespace

bool logged_message(std::string_view line, std::string& out) {
  if (!line.starts_with("{\"") || line.back() != '}') return false;
  for (const std::string_view name : {"\"message\":", "\"msg\":", "\"event\":", "\"log\":"}) {
    size_t begin = find_part(line, name);
    if (begin == kNone) continue;
    begin = line.find_first_not_of(' ', begin + name.size());
    if (begin == kNone || line[begin] != '"') return false;
    const size_t end = end_of_string(line, ++begin);
    if (end == kNone || has_figures(line, begin, end)) return false;
    unescape(line.substr(begin, end - begin), out);
    return true;
  }
  return false;
}

bool is_logger_name(std::string_view name) {
  static constexpr std::array<std::string_view, 20> kNames = {
      "ts",      "t",    "pid", "tid",   "process", "thread",    "line",       "lineno", "levelno", "level",
      "elapsed", "rank", "no",  "msecs", "created", "node_rank", "local_rank", "v",      "id",      "seconds"};
  for (std::string_view rest = name; !rest.empty();) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, end);
    if (contains_folded(part, "time") || std::find(kNames.begin(), kNames.end(), part) != kNames.end()) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace mw
