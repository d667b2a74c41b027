#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace mw {
namespace {

bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool of_name(char c) { return lower(c) || upper(c) || digit(c) || c == '_' || c == '-' || c == '.'; }

template <size_t N>
bool among(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 17> kAlways = {
    "secret", "secrets", "password", "passwd", "passphrase", "credential", "credentials", "apikey",   "authorization",
    "bearer", "cookie",  "cookies",  "dsn",    "sas",        "passcode",   "pat",         "signature"};
// "<what> key" that is one; others name a column or a field.
constexpr std::array<std::string_view, 16> kKeysOf = {
    "api", "access",  "secret",  "private", "auth",    "encryption", "signing", "license",
    "ssh", "account", "service", "master",  "session", "storage",    "wandb",   "subscription"};
// "<what> token" that is none: a piece of text, or a count.
constexpr std::array<std::string_view, 27> kTokensOf = {
    "pad",   "eos",   "bos",   "unk",   "mask",   "cls",     "sep", "stop", "end",
    "start", "image", "video", "audio", "think",  "special", "new", "max",  "min",
    "per",   "next",  "first", "last",  "ignore", "loss",    "eot", "eom",  "by"};

/// "wandbApiKey_2" is wandb, api, key: words in lower case, numbers at the end left out.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  const auto close = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool hump = upper(c) && i > 0 && (lower(name[i - 1]) || digit(name[i - 1]));
    if (hump || !(lower(c) || upper(c) || digit(c))) close();
    if (lower(c) || upper(c) || digit(c)) word += upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  close();
  while (!words.empty() && std::all_of(words.back().begin(), words.back().end(), digit)) words.pop_back();
  return words;
}

/// End of the value that begins at `at`: what stands in quotes, else up to the next word, in YAML to the line's end.
size_t value_end(std::string_view line, size_t at, bool to_the_end) {
  if (at < line.size() && (line[at] == '"' || line[at] == '\'')) {
    const size_t close = line.find(line[at], at + 1);
    return close == std::string_view::npos ? line.size() : close;
  }
  if (to_the_end) return line.size();
  size_t end = at;
  while (end < line.size() && !contains(" \t,;&\"')}]", line.substr(end, 1))) ++end;
  return end;
}

/// Where the value of the name that ends at `after` begins and ends; begin == end when there is none.
std::pair<size_t, size_t> value_after(std::string_view line, size_t begin, size_t after) {
  const bool option = line[begin] == '-';
  size_t at = after;
  if (at < line.size() && (line[at] == '"' || line[at] == '\'')) ++at;  // "name": value
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  const bool colon = at < line.size() && line[at] == ':';
  if (at < line.size() && (colon || line[at] == '=')) {
    ++at;
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  } else if (!option || at == after) {
    return {at, at};
  }
  const size_t end = value_end(line, at, colon);
  if (at < end && (line[at] == '"' || line[at] == '\'')) ++at;
  return {at, end};
}

std::string redact_line(std::string_view whole) {
  const std::string line = redact_secrets(whole);
  std::string out;
  size_t kept = 0;
  for (size_t at = 0; at < line.size();) {
    if (!of_name(line[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < line.size() && of_name(line[end])) ++end;
    if (names_secret(std::string_view(line).substr(at, end - at))) {
      const auto [begin, stop] = value_after(line, at, end);
      if (stop > begin) {
        out.append(line, kept, begin - kept).append(kRedacted);
        kept = stop;
        end = stop;
      }
    }
    at = std::max(end, at + 1);
  }
  return out.append(line, kept, std::string::npos);
}

}  // namespace

bool names_secret(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  if (words.empty()) return false;
  const bool loud = std::none_of(name.begin(), name.end(), lower);  // NAMED_LIKE_THIS: a variable of the environment
  const auto before = [&words](size_t i) { return i == 0 ? std::string_view() : std::string_view(words[i - 1]); };
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    const bool last = i + 1 == words.size();
    if (among(word, kAlways)) return true;
    for (const std::string_view end : {"secret", "password", "passwd", "apikey"}) {
      if (word.ends_with(end)) return true;
    }
    if (word == "pwd" && i > 0) return true;
    if (word == "key" && (among(before(i), kKeysOf) || (loud && last && i > 0))) return true;
    if (word == "keys" && among(before(i), kKeysOf)) return true;
    if (word == "auth" && last) return true;
    if (word == "string" && before(i) == "connection") return true;
    if (last && word.ends_with("token")) {
      const std::string_view head = word.substr(0, word.size() - 5);
      if (!among(head.empty() ? before(i) : head, kTokensOf)) return true;
    }
  }
  return false;
}

std::string redact_lines(std::string_view text) {
  std::string out;
  bool in_key = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (contains(line, "-----BEGIN") && contains(line, "PRIVATE KEY")) in_key = true;
    const bool hidden = in_key;
    if (contains(line, "-----END")) in_key = false;
    out += hidden ? std::string(kRedacted) : redact_line(line);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

std::vector<std::string> redact_words(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool next = false;
  for (const std::string& word : words) {
    const bool option = word.starts_with("-") && !contains(word, "=");
    out.push_back(next && !option ? std::string(kRedacted) : redact_lines(word));
    next = option && names_secret(word);
  }
  return out;
}

}  // namespace mw
