#include "base/secret_finder.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kNameLimit = 80;      // bytes of a name; what is longer names nothing
constexpr size_t kLoudLeast = 3;       // bytes of a name in capitals
constexpr size_t kLeastToken = 20;     // bytes of a token that chance made
constexpr size_t kPasswordDigits = 4;  // digits from which a password may be a number

/// What a byte may be, in one table: most of the time goes into finding where runs of them end.
struct Bytes {
  std::array<bool, 256> run{}, token{}, alnum{};
  std::array<uint32_t, 256> letter{};  // its bit, in either case
  constexpr Bytes() {
    for (int i = 0; i < 256; ++i) {
      const char c = static_cast<char>(i);
      const auto at = static_cast<size_t>(i);
      run[at] = is_alnum(c) || c == '_' || c == '-' || c == '.';
      alnum[at] = is_alnum(c);
      token[at] = is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
      if (is_lower(c)) letter[at] = 1U << (c - 'a');
      if (is_upper(c)) letter[at] = 1U << (c - 'A');
    }
  }
};
constexpr Bytes kBytes;

bool of_run(char c) { return kBytes.run[static_cast<unsigned char>(c)]; }
bool of_token(char c) { return kBytes.token[static_cast<unsigned char>(c)]; }
bool of_word(char c) { return kBytes.alnum[static_cast<unsigned char>(c)]; }
bool blank(char c) { return c == ' ' || c == '\t'; }
bool quote(char c) { return c == '"' || c == '\''; }

bool same_folded(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (is_upper(a) ? static_cast<char>(a + 32) : a) == b;
         });
}

constexpr uint32_t letters_of(std::string_view word) {
  uint32_t out = 0;
  for (const char c : word) out |= kBytes.letter[static_cast<unsigned char>(c)];
  return out;
}

struct NamePart {
  std::string_view text;
  uint32_t letters = letters_of(text);
};

// A name that says something has at least one of these in it.
constexpr std::array<NamePart, 19> kParts = {{{"key"},
                                              {"token"},
                                              {"secret"},
                                              {"pass"},
                                              {"pw"},
                                              {"auth"},
                                              {"cred"},
                                              {"bearer"},
                                              {"cook"},
                                              {"dsn"},
                                              {"sas"},
                                              {"pat"},
                                              {"sig"},
                                              {"string"},
                                              {"webhook"},
                                              {"sid"},
                                              {"session"},
                                              {"phrase"},
                                              {"_pin"}}};

/// The letters of each part, in whole vectors; what fills the last one is in no name.
constexpr auto kPartLetters = [] {
  std::array<uint32_t, (kParts.size() + 3) / 4 * 4> letters{};
  letters.fill(UINT32_MAX);
  for (size_t i = 0; i < kParts.size(); ++i) letters[i] = kParts[i].letters;
  return letters;
}();

/// As may_say(), of a name that has these letters.
bool may_say_by(std::string_view name, uint32_t letters) {
  bool may = false;  // of most names none may: all are asked at once, without a jump for each
  for (const uint32_t part : kPartLetters) may |= (part & ~letters) == 0;
  return may && std::any_of(kParts.begin(), kParts.end(), [name, letters](const NamePart& part) {
           return (letters & part.letters) == part.letters && contains_folded(name, part.text);
         });
}

/// What a name in running text says: as name_says(), and names of sessions and short ones that settings do not have.
NameSays says_in_text(std::string_view name) {
  while (name.starts_with('-') || name.starts_with('.')) name.remove_prefix(1);
  while (name.ends_with('.')) name.remove_suffix(1);
  if (const NameSays says = name_says(name); says != NameSays::kNothing) return says;
  for (const std::string_view word :
       {"sig", "sid", "session", "sessionid", "session_id", "jsessionid", "phpsessid", "connect.sid"}) {
    if (same_folded(name, word)) return NameSays::kPerhaps;
  }
  return NameSays::kNothing;
}

bool number(std::string_view value) {
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return is_digit(c) || contains("+-.,eE%_", std::string_view(&c, 1)); });
}

/// Is `value` but the name again, in capitals?
bool same_name(std::string_view name, std::string_view value) {
  while (name.starts_with('-')) name.remove_prefix(1);
  value = trim(value);
  return name.size() == value.size() && std::equal(name.begin(), name.end(), value.begin(), [](char a, char b) {
           return (a == '-' ? '_' : is_lower(a) ? static_cast<char>(a - 'a' + 'A') : a) == b;
         });
}

bool in_capitals(std::string_view name) {
  return name.size() >= kLoudLeast && std::none_of(name.begin(), name.end(), is_lower) &&
         std::any_of(name.begin(), name.end(), is_upper);
}

bool path_like(std::string_view value) {
  const bool rooted =
      value.starts_with("/") || value.starts_with("./") || value.starts_with("~/") || value.starts_with("../");
  return rooted && !random_looking(value) && !opaque(value);
}

}  // namespace

bool may_say(std::string_view name) { return may_say_by(name, letters_of(name)); }

bool stands_for_secret(std::string_view value) {
  static constexpr std::array<std::string_view, 45> kWords = {
      "none",        "null",     "nil",      "true",     "false",   "yes",       "no",     "on",     "off",
      "empty",       "dummy",    "unset",    "set",      "missing", "undefined", "n/a",    "na",     "fake",
      "placeholder", "changeme", "required", "invalid",  "expired", "redacted",  "hidden", "str",    "string",
      "int",         "optional", "not",      "is",       "the",     "a",         "to",     "for",    "and",
      "or",          "self",     "default",  "disabled", "enabled", "auto",      "masked", "secret", "nan"};
  if (value.empty() || value.front() == '<' || value.front() == '$' || value.front() == '{') return true;
  if (std::any_of(kWords.begin(), kWords.end(), [value](auto word) { return same_folded(value, word); })) return true;
  if (std::all_of(value.begin(), value.end(), [value](char c) { return c == value.front(); }))
    return value.size() > 2 || !is_alnum(value.front());
  if (value.find_first_not_of("*.xX•…-") == std::string_view::npos) return true;
  for (const std::string_view begin :
       {"your", "YOUR", "%(", "%s", "os.environ", "os.getenv", "getenv", "EMPTY", "None", "...", "***", "xxx", "XXX"}) {
    if (value.starts_with(begin)) return true;
  }
  return false;
}

std::vector<SecretSpan> SecretFinder::find(size_t until) {
  for (size_t at = 0; at < std::min(line_.size(), until);) {
    if (!of_run(line_[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    uint32_t letters = 0;
    for (; end < line_.size() && of_run(line_[end]); ++end) {
      letters |= kBytes.letter[static_cast<unsigned char>(line_[end])];
    }
    at = std::max(look(at, end, letters), at + 1);
  }
  return std::move(found_);
}

/// What the run of name letters says, which has these `letters`; returns where to go on.
size_t SecretFinder::look(size_t at, size_t end, uint32_t letters) {
  if (this->at(end) == ':' && this->at(end + 1) == '/' && this->at(end + 2) == '/') return address(end + 3);
  const bool name = end - at >= kLoudLeast && end - at <= kNameLimit;
  const SecretSpan value = name && may_say_by(part(at, end), letters) ? named(at, end) : SecretSpan();
  if (value.end > value.begin) {
    forms(at, end);
    mark(value.begin, value.end);
    return value.end;
  }
  if (const SecretSpan scheme = after_scheme(at, end); scheme.end > scheme.begin) {
    mark(scheme.begin, scheme.end);
    return scheme.end;
  }
  forms(at, end);
  return found_.empty() || found_.back().end <= end ? end : found_.back().end;
}

// ---- by name --------------------------------------------------------------------------------------------------------

/// Where the value of the name begins, or `at` where there is none. Knows NAME=V, "name": V, --name V, ['NAME', 'V'],
/// ["NAME"] = V, <name>V, {\"name\": V}.
size_t SecretFinder::separator(size_t at, size_t end, NameSays& says, bool& to_the_end) const {
  const std::string_view name = part(at, end);
  size_t i = end;
  if (at > 0 && line_[at - 1] == '<' && this->at(i) == '>') return i + 1;
  const bool in_quotes = quote(this->at(i)) || (this->at(i) == '\\' && quote(this->at(i + 1)));
  while (this->at(i) == '\\') ++i;
  if (in_quotes) ++i;
  if (this->at(i) == ']') ++i;
  const size_t tight = i;
  while (blank(this->at(i))) ++i;
  const char c = this->at(i);
  if (c == '=' || c == ':') {
    ++i;
    while (this->at(i) == '=' || this->at(i) == '>') ++i;
    to_the_end = c == ':' && !in_quotes;
    return i;
  }
  if (part(i, std::min(i + 3, line_.size())) == "%3D") return i + 3;
  if (c == '-' && this->at(i + 1) == '>') return i + 2;
  const bool comma = in_quotes && c == ',';  // a list of words, a tuple
  if (comma && (name.starts_with("-") || in_capitals(name) || says == NameSays::kPassword)) return i + 1;
  if (comma) says = NameSays::kPerhaps;
  if (comma) return i + 1;
  if (i == tight) return at;
  if (name.starts_with("--") && !in_quotes) return i;
  return at;
}

SecretSpan SecretFinder::named(size_t at, size_t end) const {
  const std::string_view name = part(at, end);
  NameSays says = says_in_text(name);
  if (says == NameSays::kNothing && at > 1 && line_[at - 1] == ' ' && same_folded(name, "key")) {  // "API key: X"
    size_t word = at - 1;
    while (word > 0 && is_alnum(line_[word - 1])) --word;
    says = name_says(cat(part(word, at - 1), "_key"));
    if (says > NameSays::kPerhaps) says = NameSays::kPerhaps;
  }
  if (says == NameSays::kNothing) return {};
  const bool loud = in_capitals(name);
  const char front = at > 0 ? line_[at - 1] : '\0';
  if ((front == '?' || front == '&') && this->at(end) == '=') says = NameSays::kSecret;
  if (name.starts_with("--")) says = std::max(says, NameSays::kSecret);
  bool to_the_end = false;
  const size_t value = separator(at, end, says, to_the_end);
  if (value == at) return after_word(at, end);
  if (contains_folded(name, "session") && line_[value - 1] != '=' && name_says(name) == NameSays::kNothing) return {};
  if (same_name(name, part(value, bare_end(value, false, false)))) return {};  // "--hf-token HF_TOKEN" of a usage
  const bool header =
      same_folded(name, "cookie") || same_folded(name, "set-cookie") || contains_folded(name, "authorization");
  if (header && to_the_end) {
    size_t from = value;
    while (blank(this->at(from))) ++from;
    size_t to = from;
    while (to < line_.size() && !(quote(line_[to]) && !contains(part(from, to), "\""))) ++to;
    const std::string_view rest = part(from, to);
    constexpr std::string_view kWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const size_t word = std::min(rest.find_first_not_of(kWord), rest.size());
    const bool real = contains_folded(name, "cookie") ? word > 0 && rest.substr(word, 1) == "="
                                                      : rest.size() >= 6 && !stands_for_secret(rest);
    if (quote(this->at(from))) return value_at(value, says, false, true);
    return real && !contains(rest, "(") ? SecretSpan{from, to} : SecretSpan{};
  }
  return value_at(value, says, to_the_end && says == NameSays::kPassword, loud);
}

/// What stands in the quotes that open at `at`, escaped ones too.
SecretSpan SecretFinder::quoted(size_t at) const {
  const bool escaped = at > 0 && line_[at - 1] == '\\';
  const char mark = line_[at];
  size_t end = at + 1;
  for (; end < line_.size(); ++end) {
    if (!escaped && line_[end] == '\\') {
      ++end;
      continue;
    }
    if (escaped && line_[end] == '\\' && this->at(end + 1) == mark) break;
    if (line_[end] == mark) break;
  }
  return {at + 1, std::min(end, line_.size())};
}

size_t SecretFinder::bare_end(size_t at, bool to_the_end, bool loud) const {
  if (to_the_end) return line_.size() - (line_.ends_with('\r') ? 1 : 0);
  size_t end = at;
  const std::string_view ends = loud ? " \t\"'`<>\r" : " \t,;&\"')}]|<>`\\\r";
  while (end < line_.size() && !contains(ends, line_.substr(end, 1))) ++end;
  while (loud && end > at && contains(",;)}]\\", line_.substr(end - 1, 1))) --end;
  return end;
}

SecretSpan SecretFinder::value_at(size_t at, NameSays says, bool to_the_end, bool loud) const {
  while (blank(this->at(at)) || this->at(at) == '\\') ++at;
  if (at < line_.size() && contains("brufB", line_.substr(at, 1)) && quote(this->at(at + 1))) ++at;
  if (this->at(at) == '[' && says != NameSays::kPerhaps) ++at;  // the first of a list stands for it
  SecretSpan value;
  const bool in_quotes = quote(this->at(at));
  if (in_quotes) {
    value = quoted(at);
  } else {
    value = {at, bare_end(at, to_the_end, loud)};
  }
  // "Authorization: Bearer X", also in a dict: the word stays.
  for (const std::string_view scheme : {"bearer ", "basic ", "token ", "bot "}) {
    const std::string_view head = part(value.begin, std::min(value.begin + scheme.size(), line_.size()));
    if (!same_folded(head, scheme)) continue;
    value.begin += scheme.size();
    if (!in_quotes) value.end = bare_end(value.begin, false, false);
    return value.end > value.begin + 3 && meant(part(value.begin, value.end), NameSays::kSecret, false) ? value
                                                                                                        : SecretSpan{};
  }
  return meant(part(value.begin, value.end), says, loud) ? value : SecretSpan{};
}

/// Is `value` a secret, as its name makes likely?
bool SecretFinder::meant(std::string_view value, NameSays says, bool loud) const {
  if (value.empty() || stands_for_secret(value)) return false;
  if (says == NameSays::kPassword) {
    if (number(value)) return value.size() >= kPasswordDigits && std::all_of(value.begin(), value.end(), is_digit);
    return !contains(value, "(") && !contains(value, "...") && value.size() > 1;
  }
  if (number(value) && (value.size() < 16 || !std::all_of(value.begin(), value.end(), is_digit))) return false;
  if (path_like(value) || value.starts_with("[") || value.starts_with("(")) return false;
  if (says == NameSays::kPerhaps) return opaque(value) && !contains(value, "(") && !contains(value, "[");
  const size_t call = value.find('(');
  if (call != std::string_view::npos && call > 0 &&
      std::all_of(value.begin(), value.begin() + static_cast<ptrdiff_t>(call), of_run))
    return false;
  if (value.find(' ') != std::string_view::npos) return loud || opaque(value.substr(0, value.find(' ')));
  return value.size() >= 3 || loud;
}

/// "Bearer X", "Basic X" anywhere; curl's "-u user:password".
SecretSpan SecretFinder::after_scheme(size_t at, size_t end) const {
  if (line_[at] != 'b' && line_[at] != 'B' && line_[at] != '-') return {};
  const std::string_view word = part(at, end);
  if (word.size() > 12 || !blank(this->at(end))) return {};
  size_t from = end;
  while (blank(this->at(from))) ++from;
  size_t to = from;
  while (to < line_.size() && (of_token(line_[to]) || line_[to] == '.' || line_[to] == '~')) ++to;
  const std::string_view value = part(from, to);
  if (same_folded(word, "bearer")) return opaque(value) || value.size() >= 32 ? SecretSpan{from, to} : SecretSpan{};
  if (same_folded(word, "basic")) return basic_credentials(value) ? SecretSpan{from, to} : SecretSpan{};
  if (word == "-u" || word == "--user" || word == "--proxy-user") {
    if (!contains(line_.substr(0, at), "curl") && !contains(line_.substr(0, at), "http")) return {};
    if (quote(this->at(from))) ++from;
    to = from;
    while (to < line_.size() && !blank(line_[to]) && !quote(line_[to])) ++to;
    const size_t colon = line_.find(':', from);
    return colon < to ? SecretSpan{colon + 1, to} : SecretSpan{};
  }
  return {};
}

/// "API key provided: X", "invalid token X", "password 'X'", "login me password X", "setenv HF_TOKEN X".
SecretSpan SecretFinder::after_word(size_t at, size_t end) const {
  const std::string_view name = part(at, end);
  size_t i = end;
  if (quote(this->at(i))) ++i;
  const NameSays says = name_says(name);
  if (says == NameSays::kNothing && !same_folded(name, "key")) return {};
  const std::string_view front = line_.substr(0, at);
  const bool set = front.ends_with("set -x ") || front.ends_with("set -gx ") || front.ends_with("setenv ") ||
                   front.ends_with("ENV ") || front.ends_with("ARG ");
  if (set && in_capitals(name)) return value_at(i, says, false, true);
  if (says == NameSays::kPassword && blank(this->at(end)) && (contains(front, "login ") || quote(this->at(end + 1)))) {
    return value_at(end, says, false, true);
  }
  for (int words = 0; words < 3; ++words) {  // "key provided: X", "token is X", "token X"
    while (blank(this->at(i)) || this->at(i) == ':' || this->at(i) == '=') ++i;
    if (quote(this->at(i))) ++i;
    size_t to = i;
    while (to < line_.size() && (of_token(line_[to]) || line_[to] == '.')) ++to;
    const std::string_view value = part(i, to);
    if (opaque(value) && !path_like(value)) return {i, to};
    if (to == i) return {};
    i = to;
  }
  return {};
}

// ---- by form --------------------------------------------------------------------------------------------------------

void SecretFinder::forms(size_t at, size_t end) {
  constexpr size_t kLeastForm = 11, kLeastDigits = 8;  // bytes of the shortest form, digits before a bot's ':'
  const char behind = this->at(end);
  const bool goes_on = end == line_.size() || behind == '=';  // a form may, beyond the run of name letters
  const size_t last = goes_on ? end : end - std::min(end - at, kLeastDigits - 1);  // behind it all are too short
  for (size_t i = at; i < last; ++i) {
    if (!of_word(line_[i]) || (i > at && of_word(line_[i - 1]))) continue;
    const bool short_one = !goes_on && end - i < (is_digit(line_[i]) ? kLeastDigits : kLeastForm);
    if (short_one) continue;
    const size_t stop = shaped_secret(line_, i, cut_);
    if (stop <= i) continue;
    mark(i, stop);
    if (stop >= end) return;
    i = stop - 1;
  }
  if (end - at < kLeastToken && behind != '+' && behind != '/' && behind != '=') return;
  size_t stop = at;
  if (random_at(at, stop)) mark(at, stop);
}

bool SecretFinder::random_at(size_t at, size_t& end) const {
  const char front = at > 0 ? line_[at - 1] : '\0';
  if (front == '/' || front == '+' || front == '~' || front == '\\')
    return false;  // the middle of a token or of a path
  while (end < line_.size() && of_token(line_[end]) && line_[end] != '=') ++end;
  if (!is_alnum(this->at(end + 1)) || this->at(end + 1) == '=') {  // "=" at its end belongs to it
    while (this->at(end) == '=') ++end;
  }
  while (at < end && (line_[at] == '-' || line_[at] == '_')) ++at;
  const std::string_view token = part(at, end);
  if (token.size() < kLeastToken) return false;
  if (basic_credentials(token)) return true;
  if (!random_looking(token)) return false;  // as most are not; what looks so may be something else
  if (this->at(end) == '.' && is_alnum(this->at(end + 1))) return false;  // a file's name, a module
  static constexpr std::array<std::string_view, 14> kIds = {"cmpl-", "call_",   "toolu_",  "msg_",    "req_",
                                                            "resp_", "run_",    "asst_",   "thread_", "batch_",
                                                            "file-", "sha256-", "sha512-", "sha384-"};
  for (const std::string_view id : kIds) {
    if (contains(token.substr(0, 24), id)) return false;
  }
  if (token.starts_with("eyJ")) return false;  // settings as JSON, which launchers hand on so
  const std::string_view before = line_.substr(0, at);
  for (const std::string_view digest : {"base64,", "SHA256:", "sha256:", "sha512:", "sha384:", "md5:"}) {
    if (before.ends_with(digest)) return false;
  }
  if (trim(line_) == token && token.size() >= 60 && token.size() % 4 == 0) return false;  // a line of a picture
  return true;
}

}  // namespace mw
