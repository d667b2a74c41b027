// Small things that the readers of metric lines share; private to them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace mw::metric_text {

constexpr size_t kNone = std::string_view::npos;

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool starts_with(std::string_view text, std::string_view part) { return text.substr(0, part.size()) == part; }

/// A letter beyond ASCII that begins at text[at]: its bytes; 0 when none does. Symbols, emoji, dashes, wide punctuation
/// are no letters.
inline size_t wide_letter(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = byte(at);
  if (lead >= 0xc3 && lead <= 0xdf) return 2;                     // Latin, Cyrillic
  const bool punctuation = lead == 0xe3 && byte(at + 1) == 0x80;  // U+3000 to U+303F
  return lead >= 0xe0 && lead <= 0xed && lead != 0xe2 && !punctuation && byte(at + 2) != 0 ? 3
                                                                                           : 0;  // CJK, kana, Hangul
}

/// The same for the one that ends before text[end].
inline size_t wide_letter_before(std::string_view text, size_t end) {
  for (size_t size = 2; size <= 3 && size <= end; ++size) {
    if ((static_cast<unsigned char>(text[end - size]) & 0xc0) == 0xc0)
      return wide_letter(text, end - size) == size ? size : 0;
  }
  return 0;
}

/// What a figure is of many values.
inline bool is_statistic_name(std::string_view key) {
  static constexpr std::array<std::string_view, 6> kNames = {"mean", "avg", "std", "min", "max", "median"};
  return std::find(kNames.begin(), kNames.end(), key) != kNames.end();
}

inline size_t skip_space(std::string_view text, size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

}  // namespace mw::metric_text
