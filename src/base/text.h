// Text helpers. Log text is untrusted: whatever leaves the house goes through one of the escape functions.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
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
/// With '#' for each number: the same of all that differs in numbers alone.
std::string without_numbers(std::string_view text);
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

/// A piece of what cat() puts together. It refers to its text, which must outlive the call. A class of few words, and
/// no template over the pieces: three thousand calls are compiled in every build.
class TextPiece {
 public:
  TextPiece(std::string_view text) : kind_(Kind::kText), text_(text) {}    // NOLINT: so that cat() takes what there is
  TextPiece(const std::string& text) : kind_(Kind::kText), text_(text) {}  // NOLINT: as above
  TextPiece(const char* text) : kind_(Kind::kText), text_(text) {}         // NOLINT: as above
  TextPiece(char letter) : kind_(Kind::kLetter), letter_(letter) {}        // NOLINT: as above
  TextPiece(double value) : kind_(Kind::kDouble), double_(value) {}        // NOLINT: as above
  TextPiece(std::signed_integral auto value) : kind_(Kind::kSigned), signed_(value) {}        // NOLINT: as above
  TextPiece(std::unsigned_integral auto value) : kind_(Kind::kUnsigned), unsigned_(value) {}  // NOLINT: as above

  void append_to(std::string& out) const;

 private:
  enum class Kind : uint8_t { kText, kLetter, kDouble, kSigned, kUnsigned };
  Kind kind_;
  union {
    std::string_view text_;
    char letter_;
    double double_;
    int64_t signed_;
    uint64_t unsigned_;
  };
};

/// Concatenates pieces: text as it is, integers in decimal, doubles by format_short.
std::string cat(std::initializer_list<TextPiece> pieces);
std::string cat(const TextPiece& a);
std::string cat(const TextPiece& a, const TextPiece& b);
std::string cat(const TextPiece& a, const TextPiece& b, const TextPiece& c);
std::string cat(const TextPiece& a, const TextPiece& b, const TextPiece& c, const TextPiece& d);
std::string cat(const TextPiece& a, const TextPiece& b, const TextPiece& c, const TextPiece& d, const TextPiece& e);
template <typename... More>
std::string cat(const TextPiece& a, const TextPiece& b, const TextPiece& c, const TextPiece& d, const TextPiece& e,
                const More&... more) {
  return cat({a, b, c, d, e, TextPiece(more)...});
}

}  // namespace mw
