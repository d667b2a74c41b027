// Secrets never reach the journal or a report: known key shapes, key=value pairs with telling names, URL passwords.
#include <array>

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kMark = "<redacted>";

struct KeyShape {
  std::string_view prefix;
  size_t least;  // characters after the prefix
};

// Token prefixes as their issuers document them.
constexpr std::array kShapes = {
    KeyShape{"sk-", 16},        KeyShape{"hf_", 20},         KeyShape{"ghp_", 20},   KeyShape{"gho_", 20},
    KeyShape{"ghs_", 20},       KeyShape{"github_pat_", 20}, KeyShape{"AKIA", 16},   KeyShape{"ASIA", 16},
    KeyShape{"xoxb-", 10},      KeyShape{"xoxp-", 10},       KeyShape{"glpat-", 16}, KeyShape{"AIza", 30},
    KeyShape{"eyJhbGciOi", 20}, KeyShape{"tml-", 20},        KeyShape{"pit_", 20},   KeyShape{"gsk_", 20},
    KeyShape{"r8_", 20},        KeyShape{"nvapi-", 20},      KeyShape{"rpa_", 20},
};

constexpr std::array<std::string_view, 10> kNames = {"api_key",      "apikey",       "api-key",  "secret_access_key",
                                                     "access_token", "auth_token",   "password", "passwd",
                                                     "secret_key",   "authorization"};

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/' || c == '+' || c == '=';
}

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

size_t token_end(std::string_view text, size_t at) {
  while (at < text.size() && is_token_char(text[at])) ++at;
  return at;
}

/// End of a key-shaped token that begins at `at`, or `at` when none does.
size_t shaped_token(std::string_view text, size_t at) {
  if (at > 0 && is_word_char(text[at - 1])) return at;
  for (const KeyShape& shape : kShapes) {
    if (text.substr(at, shape.prefix.size()) != shape.prefix) continue;
    const size_t end = token_end(text, at + shape.prefix.size());
    if (end - at - shape.prefix.size() >= shape.least) return end;
  }
  return at;
}

/// When a telling name begins at `at` and a value of at least 6 characters follows ("name": "value", name=value,
/// Name: Bearer value), the [begin, end) of the value; otherwise begin == end.
std::pair<size_t, size_t> named_value(std::string_view text, size_t at) {
  for (const std::string_view name : kNames) {
    if (text.size() - at < name.size() || !contains_folded(text.substr(at, name.size()), name)) continue;
    size_t i = at + name.size();
    while (i < text.size() && (text[i] == '"' || text[i] == '\'' || text[i] == ' ')) ++i;
    if (i >= text.size() || (text[i] != '=' && text[i] != ':')) return {at, at};
    ++i;
    while (i < text.size() && (text[i] == '"' || text[i] == '\'' || text[i] == ' ')) ++i;
    if (contains_folded(text.substr(i, 7), "bearer ") || contains_folded(text.substr(i, 6), "basic ")) {
      i = text.find(' ', i) + 1;
    }
    const size_t end = token_end(text, i);
    return end - i >= 6 ? std::pair{i, end} : std::pair{at, at};
  }
  return {at, at};
}

/// For "scheme://user:password@host" whose "://" begins at `at`, the [begin, end) of the password.
std::pair<size_t, size_t> url_password(std::string_view text, size_t at) {
  const size_t begin = at + 3;
  size_t colon = std::string_view::npos;
  for (size_t i = begin; i < text.size() && i < begin + 256; ++i) {
    const char c = text[i];
    if (c == '@') return colon == std::string_view::npos ? std::pair{begin, i} : std::pair{colon + 1, i};
    if (c == ':' && colon == std::string_view::npos) colon = i;
    if (c == '/' || c == ' ' || c == '"' || c == '\'') break;
  }
  return {at, at};
}

}  // namespace

std::string redact_secrets(std::string_view text) {
  std::string out;
  size_t kept = 0;
  const auto replace = [&](size_t begin, size_t end) {
    out.append(text.substr(kept, begin - kept));
    out.append(kMark);
    kept = end;
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == ':' && text.substr(at, 3) == "://") {
      const auto [begin, end] = url_password(text, at);
      if (end > begin) replace(begin, end), at = end - 1;
      continue;
    }
    if (!is_word_char(c) || (at > 0 && is_word_char(text[at - 1]) && text[at - 1] != '_')) continue;
    if (const size_t end = shaped_token(text, at); end > at) {
      replace(at, end);
      at = end - 1;
      continue;
    }
    const auto [begin, end] = named_value(text, at);
    if (end > begin) {
      if (text.substr(begin, end - begin) != kMark) replace(begin, end);
      at = end - 1;
    }
  }
  out.append(text.substr(kept));
  return out;
}

}  // namespace mw
