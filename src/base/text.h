// Text helpers. Log text is untrusted: whatever leaves the house goes through one of the escape functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/numbers.h"

namespace mw {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string to_lower(std::string_view text);
/// Where `part` first stands in `text`, or npos: as std::string_view::find, many times as fast where the first byte of
/// `part` is common.
size_t find_part(std::string_view text, std::string_view part);
inline bool contains(std::string_view text, std::string_view part) {
  return find_part(text, part) != std::string_view::npos;
}
bool contains_folded(std::string_view text, std::string_view lower_part);  ///< ASCII case ignored

/// How many line ends there are.
size_t count_lines(std::string_view text);

/// The last path component.
std::string_view basename(std::string_view path);
/// What holds `path`: "/a" of "/a/b", "/" of "/a", "." of "a".
std::string folder_of(std::string_view path);

/// Valid UTF-8: every broken byte becomes U+FFFD.
std::string sanitize_utf8(std::string_view bytes);

/// At most `limit` bytes, cut at a character boundary, with "…" when something was cut.
std::string clip(std::string_view text, size_t limit);
/// 16 hexadecimal digits.
std::string hex_of(uint64_t value);

/// For a terminal: control characters (ESC, CR, C1, DEL) and bidirectional overrides are made visible; valid UTF-8.
std::string escape_terminal(std::string_view text);

/// For Markdown inside a table cell or a paragraph: nothing in `text` can become markup, HTML or a link.
std::string escape_markdown(std::string_view text);

/// For an inline Markdown code span; returns the span with its back-quotes.
std::string markdown_code(std::string_view text);

/// API keys, tokens, passwords in URLs and the like become "<redacted>". Applied before anything is journalled.
std::string redact_secrets(std::string_view text);

namespace detail {
inline void append(std::string& out, std::string_view piece) { out.append(piece); }
inline void append(std::string& out, const char* piece) { out.append(piece); }
inline void append(std::string& out, char piece) { out.push_back(piece); }
inline void append(std::string& out, double piece) { out.append(format_short(piece)); }
template <typename T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, char>;
inline void append(std::string& out, Integer auto piece) { out.append(std::to_string(piece)); }
}  // namespace detail

/// Concatenates pieces: strings as they are, integers in decimal, doubles by format_short.
template <typename... Pieces>
std::string cat(const Pieces&... pieces) {
  std::string out;
  (detail::append(out, pieces), ...);
  return out;
}

}  // namespace mw
