// The members of a JSON object and the elements of a JSON array, one after the other, as text.
#pragma once

#include <string>
#include <string_view>

#include "read/files/json_value.h"

namespace mw {

/// Calls `each(key, value)` for the members of the JSON object `text`; false when it is garbled.
template <typename Each>
bool for_each_member(std::string_view text, Each each) {
  size_t at = skip_json_space(text, 0);
  if (at >= text.size() || text[at] != '{') return false;
  at = skip_json_space(text, at + 1);
  std::string scratch;
  while (at < text.size() && text[at] != '}') {
    const size_t key_end = text[at] == '"' ? skip_json_value(text, at) : std::string_view::npos;
    if (key_end == std::string_view::npos) return false;
    std::string_view key;
    if (!read_json_string(text.substr(at, key_end - at), scratch, key)) return false;
    at = skip_json_space(text, key_end);
    if (at >= text.size() || text[at] != ':') return false;
    at = skip_json_space(text, at + 1);
    const size_t end = skip_json_value(text, at);
    if (end == std::string_view::npos || end == at) return false;
    each(key, text.substr(at, end - at));
    at = skip_json_space(text, end);
    if (at < text.size() && text[at] == ',') at = skip_json_space(text, at + 1);
  }
  return at < text.size();
}

/// Calls `each(element)` for the elements of the JSON array `text`; false when it is garbled.
template <typename Each>
bool for_each_element(std::string_view text, Each each) {
  size_t at = skip_json_space(text, 0);
  if (at >= text.size() || text[at] != '[') return false;
  at = skip_json_space(text, at + 1);
  while (at < text.size() && text[at] != ']') {
    const size_t end = skip_json_value(text, at);
    if (end == std::string_view::npos || end == at) return false;
    each(text.substr(at, end - at));
    at = skip_json_space(text, end);
    if (at < text.size() && text[at] == ',') at = skip_json_space(text, at + 1);
  }
  return at < text.size();
}

/// The first element of the JSON array `text`; empty where there is none, or it is garbled. The others are not read.
inline std::string_view first_element(std::string_view text) {
  const size_t bracket = skip_json_space(text, 0);
  if (bracket >= text.size() || text[bracket] != '[') return {};
  const size_t at = skip_json_space(text, bracket + 1);
  if (at >= text.size() || text[at] == ']') return {};
  const size_t end = skip_json_value(text, at);
  return end == std::string_view::npos ? std::string_view() : text.substr(at, end - at);
}

/// The first byte inside the brackets of `text` ('{', '[', '"', a digit, ...); 0 when there is none.
inline char first_inside(std::string_view text) {
  const size_t at = text.empty() ? 0 : skip_json_space(text, 1);
  return at < text.size() ? text[at] : '\0';
}

inline bool is_list_of_objects(std::string_view value) { return value[0] == '[' && first_inside(value) == '{'; }

inline bool is_list_of_numbers(std::string_view value) {
  if (value[0] != '[') return false;
  const char c = first_inside(value);
  return c == '-' || c == 'N' || c == 'I' || c == 't' || c == 'f' || c == 'n' || (c >= '0' && c <= '9');
}

}  // namespace mw
