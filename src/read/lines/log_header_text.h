// What the pieces of a log line's header look like. Used by LogHeader only.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "read/lines/log_line.h"
#include "read/lines/log_time.h"

namespace mw::log_header {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kBracketLimit = 160;  ///< bytes of "[...]"

struct LevelName {
  std::string_view name;
  Level level;
};
constexpr std::array<LevelName, 11> kLevels = {{{"INFO", Level::kInfo},
                                                {"WARNING", Level::kWarning},
                                                {"ERROR", Level::kError},
                                                {"DEBUG", Level::kDebug},
                                                {"CRITICAL", Level::kCritical},
                                                {"WARN", Level::kWarning},
                                                {"FATAL", Level::kCritical},
                                                {"SUCCESS", Level::kInfo},
                                                {"TRACE", Level::kDebug},
                                                {"NOTICE", Level::kInfo},
                                                {"CRIT", Level::kCritical}}};

inline char char_at(std::string_view text, size_t at) { return at < text.size() ? text[at] : '\0'; }
inline bool digit(char c) { return c >= '0' && c <= '9'; }
inline bool upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool lower(char c) { return c >= 'a' && c <= 'z'; }
inline bool word(char c) { return digit(c) || upper(c) || lower(c) || c == '_'; }
inline bool name_char(char c) { return word(c) || c == '.' || c == '-'; }

/// "| step | 12 |": a row of a table keeps its first bar.
inline bool is_row(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text.size() > 2 && text[0] == '|' && text.back() == '|';
}

inline std::string_view left_trim(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
  return text.substr(i);
}

inline size_t count_digits(std::string_view text, size_t at) {
  size_t i = at;
  while (digit(char_at(text, i))) ++i;
  return i - at;
}

/// The level word that `text` begins with; `used` gets its length.
inline Level level_word(std::string_view text, size_t* used) {
  if (!upper(char_at(text, 0))) return Level::kNone;
  for (const LevelName& row : kLevels) {
    if (row.name[0] != text[0]) continue;  // most are refuted without a call
    if (text.starts_with(row.name) && !word(char_at(text, row.name.size()))) {
      *used = row.name.size();
      return row.level;
    }
  }
  return Level::kNone;
}

inline Level level_letter(char c) {
  constexpr std::array kLetters = {std::pair{'D', Level::kDebug},    std::pair{'I', Level::kInfo},
                                   std::pair{'W', Level::kWarning},  std::pair{'E', Level::kError},
                                   std::pair{'F', Level::kCritical}, std::pair{'C', Level::kCritical}};
  const auto* found = std::find_if(kLetters.begin(), kLetters.end(), [c](const auto& row) { return row.first == c; });
  return found == kLetters.end() ? Level::kNone : found->second;
}

/// "file.py:12", "file.cc:12:function", "package.module:function:12".
inline bool source_name(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  bool numbered = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':' && digit(char_at(text, i + 1))) numbered = true;
    if (!name_char(c) && c != ':' && c != '/' && c != '<' && c != '>') return false;
  }
  return numbered && !digit(text[0]);
}

/// Can what stands before a dash be a place in a program? "step:1 - loss:0.5" begins with a figure: a place has a
/// dotted name or a function as well.
inline bool is_place(std::string_view text) {
  return source_name(text) && (contains(text, ".") || std::count(text.begin(), text.end(), ':') > 1);
}

/// "package.module" whose last part is not a class ("torch.OutOfMemoryError: ..." is an exception, not a logger).
inline bool dotted_name(std::string_view text) {
  const size_t dot = text.rfind('.');
  if (text == "__main__") return true;
  if (dot == std::string_view::npos || dot == 0 || dot + 1 >= text.size()) return false;
  if (!lower(text[dot + 1]) && text[dot + 1] != '_') return false;
  if (text.substr(dot) == ".sh") return false;  // a shell speaks: "run.sh: line 18: 14250 Killed"
  return !digit(text[0]) && std::all_of(text.begin(), text.end(), name_char);
}

inline bool at_stamp(std::string_view text) {
  if (char_at(text, 0) == '[') text.remove_prefix(1);
  const auto stamp = read_stamp(text);
  return stamp && stamp->kind != Stamp::Kind::kClock;
}

inline int rank_in(std::string_view name) {
  for (const std::string_view key : {"rank=", "TP", "rank"}) {
    const size_t at = name.find(key);
    if (at == std::string_view::npos) continue;
    const size_t width = count_digits(name, at + key.size());
    const auto value = parse_int(name.substr(at + key.size(), width));
    if (width > 0 && width < 7 && value) return static_cast<int>(*value);
  }
  return -1;
}

}  // namespace mw::log_header
