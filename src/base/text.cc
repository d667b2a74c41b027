#include "base/text.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace mw {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Length of the valid UTF-8 character at `at`, 0 when the bytes there are none. `point` gets the code point.
size_t utf8_length(std::string_view bytes, size_t at, uint32_t* point) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const uint8_t first = byte(at);
  if (first < 0x80) {
    *point = first;
    return 1;
  }
  const size_t length = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first >= 0xf5 || at + length > bytes.size()) return 0;
  uint32_t value = first & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
    value = (value << 6) | (byte(at + i) & 0x3fU);
  }
  const std::array<uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
  *point = value;
  return length;
}

bool is_bidi_or_invisible(uint32_t point) {
  return (point >= 0x200b && point <= 0x200f) || (point >= 0x202a && point <= 0x202e) ||
         (point >= 0x2060 && point <= 0x2069) || point == 0xfeff || point == 0x061c;
}

void append_hex(std::string& out, uint32_t value, int width) {
  for (int shift = (width - 1) * 4; shift >= 0; shift -= 4) out.push_back("0123456789abcdef"[(value >> shift) & 15]);
}

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

}  // namespace

std::string hex_of(uint64_t value) {
  std::string out;
  append_hex(out, static_cast<uint32_t>(value >> 32), 8);
  append_hex(out, static_cast<uint32_t>(value), 8);
  return out;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

namespace {

/// Where the first of 16 and more places stands at which `ends` are the first and the last byte and `same` is true, or
/// npos. `fold` is or-ed to the bytes of `text` before they are compared with either.
template <typename Same>
size_t find_by_ends(std::string_view text, size_t size, std::array<char, 2> ends, std::array<char, 2> fold, Same same) {
  const size_t places = text.size() - size + 1;
  size_t at = 0;
#if defined(__SSE2__)
  const auto load = [&text](size_t from, char folded) {
    __m128i bytes;
    std::memcpy(&bytes, text.data() + from, sizeof bytes);
    return _mm_or_si128(bytes, _mm_set1_epi8(folded));
  };
  const __m128i first = _mm_set1_epi8(ends[0]), last = _mm_set1_epi8(ends[1]);
  while (places >= 16 && at < places) {
    if (at + 16 > places) at = places - 16;  // some are looked at twice, which changes nothing
    const __m128i both =
        _mm_and_si128(_mm_cmpeq_epi8(load(at, fold[0]), first), _mm_cmpeq_epi8(load(at + size - 1, fold[1]), last));
    for (auto found = static_cast<uint32_t>(_mm_movemask_epi8(both)); found != 0; found &= found - 1) {
      const size_t place = at + static_cast<size_t>(std::countr_zero(found));
      if (same(text.data() + place)) return place;
    }
    at += 16;
  }
#endif
  for (; at < places; ++at) {
    const char* const place = text.data() + at;
    if ((place[0] | fold[0]) == ends[0] && (place[size - 1] | fold[1]) == ends[1] && same(place)) return at;
  }
  return std::string_view::npos;
}

}  // namespace

size_t find_part(std::string_view text, std::string_view part) {
  if (part.size() < 2 || text.size() < part.size()) return text.find(part);
  return find_by_ends(text, part.size(), {part.front(), part.back()}, {0, 0}, [part](const char* at) {
    return part.size() == 2 || std::memcmp(at + 1, part.data() + 1, part.size() - 2) == 0;
  });
}

std::string without_numbers(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) out += c;
    if (digit && (out.empty() || out.back() != '#')) out += '#';
  }
  return out;
}

bool contains_folded(std::string_view text, std::string_view lower_part) {
  if (lower_part.empty()) return true;
  if (text.size() < lower_part.size()) return false;
  const auto same = [&](const char* at) {
    for (size_t i = 0; i < lower_part.size(); ++i) {
      if ((at[i] >= 'A' && at[i] <= 'Z' ? static_cast<char>(at[i] + 32) : at[i]) != lower_part[i]) return false;
    }
    return true;
  };
  const auto fold = [](char c) { return c >= 'a' && c <= 'z' ? ' ' : '\0'; };  // the bit that makes letters small
  const char first = lower_part.front(), last = lower_part.back();
  return find_by_ends(text, lower_part.size(), {first, last}, {fold(first), fold(last)}, same) !=
         std::string_view::npos;
}

std::string_view basename(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

namespace {

/// Bytes of ASCII from `at` on: nearly all of any log, so eight are looked at together.
size_t ascii_run(std::string_view bytes, size_t at) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  const size_t begin = at;
  for (uint64_t eight = 0; at + sizeof eight <= bytes.size(); at += sizeof eight) {
    std::memcpy(&eight, bytes.data() + at, sizeof eight);
    if ((eight & kHighBits) != 0) break;
  }
  while (at < bytes.size() && static_cast<uint8_t>(bytes[at]) < 0x80) ++at;
  return at - begin;
}

}  // namespace

std::string sanitize_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  uint32_t point = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t plain = ascii_run(bytes, at);
    out.append(bytes.substr(at, plain));
    at += plain;
    if (at == bytes.size()) break;
    const size_t length = utf8_length(bytes, at, &point);
    if (length == 0) {
      out.append(kReplacement);
      ++at;
    } else {
      out.append(bytes.substr(at, length));
      at += length;
    }
  }
  return out;
}

std::string clip(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  size_t end = limit;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string escape_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  uint32_t point = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_length(text, at, &point);
    if (length == 0) {
      out.append(kReplacement);
      ++at;
      continue;
    }
    if (point == '\t') {
      out.push_back(' ');
    } else if (point < 0x20 || point == 0x7f) {
      out.append("\\x");
      append_hex(out, point, 2);
    } else if ((point >= 0x80 && point < 0xa0) || is_bidi_or_invisible(point)) {
      out.append("\\u");
      append_hex(out, point, 4);
    } else {
      out.append(text.substr(at, length));
    }
    at += length;
  }
  return out;
}

namespace {

/// Would GitHub's autolinks make a link of the ':' or '.' at `at` ("https://", "mailto:", "www.")?
bool begins_link(std::string_view text, size_t at) {
  if (text[at] == ':') {
    const std::string_view before = text.substr(0, at);
    return text.substr(at + 1, 2) == "//" ||
           to_lower(before.substr(before.size() - std::min<size_t>(6, at))) == "mailto" ||
           to_lower(before.substr(before.size() - std::min<size_t>(4, at))) == "xmpp";
  }
  return text[at] == '.' && at >= 3 && to_lower(text.substr(at - 3, 3)) == "www";
}

/// '_' within a word is plain text in every Markdown.
bool within_word(std::string_view text, size_t at) {
  const auto plain = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return at > 0 && at + 1 < text.size() && plain(text[at - 1]) && plain(text[at + 1]);
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  const std::string safe = escape_terminal(text);
  std::string out;
  out.reserve(safe.size() + 16);
  for (size_t i = 0; i < safe.size(); ++i) {
    const char c = safe[i];
    if (c == '<') {
      out.append("&lt;");
    } else if (c == '>') {
      out.append("&gt;");
    } else if (c == '&') {
      out.append("&amp;");
    } else if (c == '|' || c == '`' || c == '*' || c == '[' || c == ']' || c == '\\' || c == '#' || c == '~' ||
               c == '!' || (c == '_' && !within_word(safe, i))) {
      out.push_back('\\');
      out.push_back(c);
    } else if ((c == ':' || c == '.') && begins_link(safe, i)) {
      out.append(c == ':' ? "&#58;" : "&#46;");
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  std::string safe = escape_terminal(text);
  size_t longest = 0, current = 0;
  for (char& c : safe) {
    if (c == '|') c = '\x01';  // replaced below: a raw bar would end a table cell
    current = c == '`' ? current + 1 : 0;
    longest = current > longest ? current : longest;
  }
  std::string body;
  for (const char c : safe) {
    if (c == '\x01') {
      body.append("¦");
    } else {
      body.push_back(c);
    }
  }
  const std::string fence(longest + 1, '`');
  const bool pad = !body.empty() && (body.front() == '`' || body.back() == '`');
  return fence + (pad ? " " : "") + (body.empty() ? " " : body) + (pad ? " " : "") + fence;
}

/// The vector loop is four times as fast as what GCC 12 makes of std::count.
size_t count_lines(std::string_view text) {
  size_t count = 0, i = 0;
#if defined(__SSE2__)
  const __m128i feed = _mm_set1_epi8('\n');
  while (i + 16 <= text.size()) {
    __m128i sums = _mm_setzero_si128();  // of bytes; 255 rounds fit
    const size_t rounds = std::min<size_t>((text.size() - i) / 16, 255);
    for (size_t round = 0; round < rounds; ++round, i += 16) {
      __m128i bytes;
      memcpy(&bytes, text.data() + i, sizeof bytes);
      sums = _mm_sub_epi8(sums, _mm_cmpeq_epi8(bytes, feed));
    }
    const __m128i halves = _mm_sad_epu8(sums, _mm_setzero_si128());
    count += static_cast<size_t>(_mm_cvtsi128_si64(halves)) + static_cast<size_t>(_mm_extract_epi16(halves, 4));
  }
#endif
  for (; i < text.size(); ++i) count += text[i] == '\n' ? 1 : 0;
  return count;
}

void TextPiece::append_to(std::string& out) const {
  const auto digits = [&out](auto value) {
    char text[24];
    out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
  };
  switch (kind_) {
    case Kind::kText:
      out.append(text_);
      break;
    case Kind::kLetter:
      out.push_back(letter_);
      break;
    case Kind::kDouble:
      out.append(format_short(double_));
      break;
    case Kind::kSigned:
      digits(signed_);
      break;
    case Kind::kUnsigned:
      digits(unsigned_);
      break;
  }
}

std::string cat(std::initializer_list<TextPiece> pieces) {
  std::string out;
  for (const TextPiece& piece : pieces) piece.append_to(out);
  return out;
}
std::string cat(const TextPiece& a) { return cat({a}); }
std::string cat(const TextPiece& a, const TextPiece& b) { return cat({a, b}); }
std::string cat(const TextPiece& a, const TextPiece& b, const TextPiece& c) { return cat({a, b, c}); }
std::string cat(const TextPiece& a, const TextPiece& b, const TextPiece& c, const TextPiece& d) {
  return cat({a, b, c, d});
}
std::string cat(const TextPiece& a, const TextPiece& b, const TextPiece& c, const TextPiece& d, const TextPiece& e) {
  return cat({a, b, c, d, e});
}

}  // namespace mw
