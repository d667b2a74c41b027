#include "base/secret_shapes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kLeastRandom = 24;   // bytes; what is shorter, names and ids reach by themselves
constexpr size_t kMostRandom = 512;   // bytes; longer ones are pictures and tensors
constexpr size_t kLeastOpaque = 12;   // bytes
constexpr size_t kCutPrefix = 3;      // bytes of a prefix that are enough where text was cut
constexpr size_t kCutLeast = 5;       // bytes behind it
constexpr double kMixed = 0.35;       // changes of class a byte; about 0.62 by chance, words in humps below 0.3
constexpr double kWordy = 0.75;       // share of small letters in runs of three and more; about 0.38 by chance
constexpr size_t kOneCaseLeast = 28;  // bytes of a token in one case, which looks more like a name

enum class Of : uint8_t { kAlnum, kWord, kDashed, kDotted, kHex, kCode };

struct Shape {
  std::string_view prefix;
  size_t least;  // bytes after the prefix
  Of of;
  bool mixed = true;  // must hold a digit, or both cases: else words would do
};

// Prefixes as their issuers document them; where a prefix is common in names, more must follow.
constexpr std::array kShapes = {
    Shape{"sk-", 16, Of::kDashed},        Shape{"sk_live_", 16, Of::kAlnum},
    Shape{"sk_test_", 16, Of::kAlnum},    Shape{"rk_live_", 16, Of::kAlnum},
    Shape{"rk_test_", 16, Of::kAlnum},    Shape{"whsec_", 16, Of::kAlnum},
    Shape{"hf_", 20, Of::kAlnum, false},  Shape{"api_org_", 20, Of::kAlnum},
    Shape{"ghp_", 20, Of::kAlnum},        Shape{"gho_", 20, Of::kAlnum},
    Shape{"ghu_", 20, Of::kAlnum},        Shape{"ghs_", 20, Of::kAlnum},
    Shape{"ghr_", 20, Of::kAlnum},        Shape{"github_pat_", 20, Of::kWord},
    Shape{"AKIA", 16, Of::kCode},         Shape{"ASIA", 16, Of::kCode},
    Shape{"AIDA", 16, Of::kCode},         Shape{"AROA", 16, Of::kCode},
    Shape{"ABIA", 16, Of::kCode},         Shape{"ACCA", 16, Of::kCode},
    Shape{"xoxb-", 10, Of::kDashed},      Shape{"xoxp-", 10, Of::kDashed},
    Shape{"xoxa-", 10, Of::kDashed},      Shape{"xoxr-", 10, Of::kDashed},
    Shape{"xoxs-", 10, Of::kDashed},      Shape{"xoxe-", 10, Of::kDashed},
    Shape{"xapp-", 10, Of::kDashed},      Shape{"glpat-", 16, Of::kDashed},
    Shape{"gldt-", 16, Of::kDashed},      Shape{"glrt-", 16, Of::kDashed},
    Shape{"glptt-", 16, Of::kDashed},     Shape{"glcbt-", 16, Of::kDashed},
    Shape{"glsoat-", 16, Of::kDashed},    Shape{"glagent-", 16, Of::kDashed},
    Shape{"AIza", 30, Of::kDashed},       Shape{"ya29.", 20, Of::kDotted},
    Shape{"GOCSPX-", 20, Of::kDashed},    Shape{"npm_", 30, Of::kAlnum},
    Shape{"pypi-", 30, Of::kDashed},      Shape{"SG.", 30, Of::kDotted},
    Shape{"dckr_pat_", 20, Of::kDashed},  Shape{"dop_v1_", 40, Of::kHex},
    Shape{"doo_v1_", 40, Of::kHex},       Shape{"dor_v1_", 40, Of::kHex},
    Shape{"tml-", 20, Of::kDashed},       Shape{"pit_", 20, Of::kDashed},
    Shape{"gsk_", 20, Of::kAlnum},        Shape{"r8_", 20, Of::kAlnum},
    Shape{"nvapi-", 20, Of::kDashed},     Shape{"rpa_", 20, Of::kAlnum},
    Shape{"pplx-", 30, Of::kAlnum},       Shape{"xai-", 30, Of::kAlnum},
    Shape{"fw_", 20, Of::kAlnum},         Shape{"shpat_", 20, Of::kAlnum},
    Shape{"lin_api_", 20, Of::kAlnum},    Shape{"ntn_", 30, Of::kAlnum},
    Shape{"secret_", 30, Of::kDotted},    Shape{"figd_", 30, Of::kDashed},
    Shape{"sntrys_", 30, Of::kDashed},    Shape{"sntryu_", 30, Of::kDashed},
    Shape{"glc_", 30, Of::kAlnum},        Shape{"glsa_", 30, Of::kWord},
    Shape{"hvs.", 20, Of::kDashed},       Shape{"hvb.", 20, Of::kDashed},
    Shape{"dapi", 32, Of::kHex},          Shape{"NRAK-", 20, Of::kAlnum},
    Shape{"PMAK-", 20, Of::kDashed},      Shape{"rubygems_", 30, Of::kHex},
    Shape{"ATATT3", 30, Of::kDashed},     Shape{"sbp_", 30, Of::kHex},
    Shape{"tk_", 29, Of::kAlnum},         Shape{"local-", 40, Of::kHex},
    Shape{"wandb_v1_", 20, Of::kWord},    Shape{"AGE-SECRET-KEY-1", 40, Of::kCode},
    Shape{"eyJhbGciOi", 20, Of::kDotted}, Shape{"LS0tLS1CRUdJTi", 40, Of::kAlnum},
    Shape{"key-", 32, Of::kHex},          Shape{"SK", 32, Of::kHex},
    Shape{"co_", 30, Of::kAlnum},
};

/// The first two bytes of all shapes, and of "ey": most places of a text are passed by on their account.
struct Begins {
  std::array<bool, size_t{128} * 128> is{};
  constexpr Begins() {
    for (const Shape& shape : kShapes)
      is[static_cast<size_t>(shape.prefix[0]) * 128 + static_cast<size_t>(shape.prefix[1])] = true;
    is[static_cast<size_t>('e') * 128 + static_cast<size_t>('y')] = true;
  }
  constexpr bool may(char first, char second) const {
    return first >= 0 && second >= 0 && is[static_cast<size_t>(first) * 128 + static_cast<size_t>(second)];
  }
};
constexpr Begins kBegins;

bool hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool belongs(Of of, char c) {
  switch (of) {
    case Of::kAlnum:
      return is_alnum(c);
    case Of::kWord:
      return is_alnum(c) || c == '_';
    case Of::kDashed:
      return is_alnum(c) || c == '_' || c == '-';
    case Of::kDotted:
      return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '=';
    case Of::kHex:
      return hex(c);
    case Of::kCode:
      return is_digit(c) || is_upper(c);
  }
  return false;
}

bool mixed(std::string_view text) {
  const bool small = std::any_of(text.begin(), text.end(), is_lower);
  const bool large = std::any_of(text.begin(), text.end(), is_upper);
  return std::any_of(text.begin(), text.end(), is_digit) || (small && large);
}

size_t run_of(std::string_view text, size_t at, Of of) {
  while (at < text.size() && belongs(of, text[at])) ++at;
  return at;
}

/// "header.payload.signature" in base64url; the first two are JSON.
size_t web_token(std::string_view text, size_t at) {
  constexpr size_t kLeastPart = 8;
  if (text.substr(at, 3) != "eyJ") return at;
  const size_t first = run_of(text, at, Of::kDashed);
  if (first - at < kLeastPart) return at;
  if (first < text.size() && text[first] == '.' && text.substr(first + 1, 2) == "ey") {
    return run_of(text, first, Of::kDotted);
  }
  constexpr size_t kSignature = 20;  // bytes of what signs a payload whose header is in the line before
  if (first < text.size() && text[first] == '.') {
    const size_t signature = run_of(text, first + 1, Of::kDashed);
    if (signature - first > kSignature) return signature;
  }
  size_t end = first;  // JSON in base64 alone, as some trackers make their tokens
  while (end < text.size() && text[end] == '=') ++end;
  return end - at >= 40 ? end : at;
}

/// "1234567890:AA…": a bot of Telegram.
size_t bot_token(std::string_view text, size_t at) {
  size_t colon = at;
  while (colon < text.size() && is_digit(text[colon])) ++colon;
  if (colon - at < 8 || colon - at > 10) return at;
  const bool escaped = text.substr(colon, 3) == "%3A";
  if (!escaped && text.substr(colon, 1) != ":") return at;
  const size_t from = colon + (escaped ? 3 : 1);
  const size_t end = run_of(text, from, Of::kDashed);
  return end - from >= 30 && end - from <= 50 && mixed(text.substr(from, end - from)) ? end : at;
}

/// "MTk4….Gxxxxx.…": a bot of Discord.
size_t dotted_token(std::string_view text, size_t at) {
  if (at + 60 > text.size() || !belongs(Of::kDashed, text[at + 22]) || !belongs(Of::kDashed, text[at + 11])) return at;
  constexpr size_t kFirstLeast = 23, kFirstMost = 30;
  if (text.substr(at + kFirstLeast, kFirstMost - kFirstLeast + 1).find('.') == std::string_view::npos) return at;
  const size_t first = run_of(text, at, Of::kDashed);
  if (first - at < kFirstLeast || first - at > kFirstMost || first >= text.size() || text[first] != '.') return at;
  const size_t second = run_of(text, first + 1, Of::kDashed);
  if (second - first - 1 != 6 || second >= text.size() || text[second] != '.') return at;
  const size_t end = run_of(text, second + 1, Of::kDashed);
  return end - second - 1 >= 27 && mixed(text.substr(at, end - at)) ? end : at;
}

struct Makeup {
  size_t small = 0, large = 0, digits = 0, changes = 0, wordy = 0, hexes = 0, size = 0;
};

/// Of the letters and digits of `token`; what joins them is left out.
Makeup makeup_of(std::string_view token) {
  Makeup is;
  int before = 0;
  size_t run = 0;
  const auto close = [&] {
    if (run >= 3) is.wordy += run;
    run = 0;
  };
  for (const char c : token) {
    const int kind = is_lower(c) ? 1 : is_upper(c) ? 2 : is_digit(c) ? 3 : 0;
    if (kind != 1) close();
    if (kind == 0) continue;
    ++is.size;
    is.small += kind == 1 ? 1 : 0;
    is.large += kind == 2 ? 1 : 0;
    is.digits += kind == 3 ? 1 : 0;
    is.hexes += hex(c) ? 1 : 0;
    run += kind == 1 ? 1 : 0;
    is.changes += before != 0 && kind != before ? 1 : 0;
    before = kind;
  }
  close();
  return is;
}

bool by_chance(const Makeup& is, double mixed_least) {
  if (is.size < 2 || is.hexes == is.size) return false;
  const double changes = static_cast<double>(is.changes) / static_cast<double>(is.size - 1);
  const bool words = static_cast<double>(is.wordy) > kWordy * static_cast<double>(is.small);
  if (is.small > 0 && is.large > 0 && is.digits > 0) return changes >= mixed_least && (!words || is.small < 4);
  return false;
}

/// In one case and digits: only where the digits lie scattered.
bool one_case_by_chance(const Makeup& is) {
  if (is.size < kOneCaseLeast || is.hexes == is.size || is.digits < 4 || (is.small > 0 && is.large > 0)) return false;
  return static_cast<double>(is.changes) >= 0.3 * static_cast<double>(is.size - 1) && is.digits * 2 < is.size;
}

}  // namespace

size_t shaped_secret(std::string_view text, size_t at, bool cut) {
  if (at + 1 >= text.size()) return at;
  const char first = text[at];
  if (!kBegins.may(first, text[at + 1])) {
    return is_digit(first) ? bot_token(text, at) : dotted_token(text, at);
  }
  for (const Shape& shape : kShapes) {
    if (shape.prefix[0] != first || text.substr(at, shape.prefix.size()) != shape.prefix) continue;
    const size_t from = at + shape.prefix.size();
    const size_t end = run_of(text, from, shape.of);
    const bool at_the_cut = cut && end == text.size() && shape.prefix.size() >= kCutPrefix && end - from >= kCutLeast;
    if (at_the_cut && (at == 0 || text[at - 1] != '/') && mixed(text.substr(from))) return end;
    if (end - from < shape.least || (shape.mixed && !mixed(text.substr(from, end - from)))) continue;
    const bool exact = shape.of == Of::kCode || shape.prefix == "SK";
    if (exact && end < text.size() && (is_alnum(text[end]) || text[end] == '_')) continue;
    if (exact && end - from > shape.least && shape.prefix.size() <= 4) continue;
    return end;
  }
  if (const size_t end = web_token(text, at); end > at) return end;
  if (const size_t end = is_digit(first) ? bot_token(text, at) : at; end > at) return end;
  return dotted_token(text, at);
}

bool random_looking(std::string_view token) {
  if (token.size() < kLeastRandom || token.size() > kMostRandom) return false;
  const bool wide = token.find_first_of("+/") != std::string_view::npos || token.ends_with("=");
  if (!wide) {  // a name of several words, joined: each is looked at by itself
    for (size_t at = 0; at < token.size();) {
      size_t end = at;
      while (end < token.size() && token[end] != '-' && token[end] != '_') ++end;
      if (end - at >= kLeastRandom) {
        const Makeup is = makeup_of(token.substr(at, end - at));
        if (is.size >= kLeastRandom && (by_chance(is, kMixed) || one_case_by_chance(is))) return true;
      }
      at = end + 1;
    }
  }
  constexpr size_t kSureSize = 36;  // bytes at which all of it, joints and all, is judged
  if (token.size() < kSureSize) return false;
  const Makeup all = makeup_of(token);
  constexpr double kSurelyMixed = 0.45;
  if (all.size < kSureSize || all.size * 8 < token.size() * 7) return false;
  const bool words = static_cast<double>(all.wordy) > 0.65 * static_cast<double>(all.small);
  return by_chance(all, kSurelyMixed) && !words && all.digits >= 2;
}

bool opaque(std::string_view value) {
  if (value.size() < kLeastOpaque) return false;
  const Makeup is = makeup_of(value);
  if (is.digits == 0 || is.small + is.large == 0 || value.find(' ') != std::string_view::npos) return false;
  if (is.hexes == is.size) return is.size >= kLeastOpaque;
  return is.digits >= 2 && static_cast<double>(is.changes) >= 0.25 * static_cast<double>(is.size - 1);
}

bool may_go_on(std::string_view text) {
  constexpr size_t kLeastPiece = 4;      // bytes; of less, nothing can be said
  constexpr double kLettersMixed = 0.2;  // changes of class a byte, of letters alone
  constexpr double kMixedDigits = 0.2;   // likewise with digits
  size_t end = 0;
  while (end < text.size() && (is_alnum(text[end]) || contains("+/=_-%", text.substr(end, 1)))) ++end;
  const std::string_view piece = text.substr(0, end);
  if (piece.size() < kLeastPiece || text.substr(end, 1) == ":" || text.substr(end, 1) == "(") return false;
  for (const std::string_view name : {"Error", "Exception", "Warning", "Interrupt", "Exit"}) {
    if (piece.ends_with(name)) return false;
  }
  const Makeup is = makeup_of(piece);
  if (is.size < kLeastPiece || is.small + is.large == 0) return false;
  const double changes = static_cast<double>(is.changes) / static_cast<double>(is.size - 1);
  return is.digits > 0
             ? changes >= kMixedDigits
             : changes >= kLettersMixed && static_cast<double>(is.wordy) < 0.8 * static_cast<double>(is.small);
}

bool basic_credentials(std::string_view token) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (token.size() < 8 || token.size() > 400 || token.size() % 4 != 0) return false;
  uint32_t bits = 0;
  int held = 0;
  bool colon = false, first = true;
  while (token.ends_with("=")) token.remove_suffix(1);
  for (const char c : token) {
    const size_t value = kLetters.find(c);
    if (value == std::string_view::npos) return false;
    bits = (bits << 6) | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    const char decoded = static_cast<char>((bits >> held) & 0xff);
    if (decoded < ' ' || decoded > '~' || (first && (decoded == '{' || decoded == '['))) return false;
    first = false;
    colon = colon || decoded == ':';
  }
  return colon;
}

}  // namespace mw
