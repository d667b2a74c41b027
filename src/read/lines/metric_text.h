// Small things that the readers of metric lines share; private to them.
#pragma once

#include <cstddef>
#include <string_view>

namespace mw::metric_text {

constexpr size_t kNone = std::string_view::npos;

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool starts_with(std::string_view text, std::string_view part) { return text.substr(0, part.size()) == part; }

inline size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

}  // namespace mw::metric_text
