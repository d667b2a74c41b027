#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <utility>

#include "base/one_of.h"
#include "base/secret_finder.h"
#include "base/secret_shapes.h"
#include "base/text.h"

namespace mw {
namespace {

/// The names that settings declared; threads that collect an attempt's environment ask.
class Declared {
 public:
  void add(std::string_view name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    names_.emplace(name);
  }
  bool has(std::string_view name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return names_.find(name) != names_.end();
  }

 private:
  std::mutex mutex_;
  std::set<std::string, std::less<>> names_;
};

Declared& declared() {
  static Declared names;
  return names;
}

bool lower(char c) { return c >= 'a' && c <= 'z'; }
bool upper(char c) { return c >= 'A' && c <= 'Z'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::array<std::string_view, 6> kPasswords = {"password", "passwd",    "passphrase",
                                                        "passcode", "passwords", "pgpassword"};
constexpr std::array<std::string_view, 5> kSecrets = {"secret", "apikey", "authorization", "apikeys", "authtoken"};
// Names of a secret, and of much else: the value decides.
constexpr std::array<std::string_view, 11> kDoubtful = {"secrets", "credential", "credentials", "bearer",
                                                        "cookie",  "cookies",    "dsn",         "sas",
                                                        "pat",     "signature",  "accesskey"};
// "<what> key" that is one; others name a column or a field.
constexpr std::array<std::string_view, 33> kKeysOf = {
    "judge",   "grader",  "verifier", "scorer",  "llm",     "openai",     "anthropic",    "serper",  "tavily",
    "api",     "access",  "secret",   "private", "auth",    "encryption", "signing",      "license", "ssh",
    "account", "service", "master",   "session", "storage", "wandb",      "subscription", "client",  "tls",
    "deploy",  "shared",  "hmac",     "aes",     "admin",   "bot"};
// "<what> token" that is one, whatever its value looks like.
constexpr std::array<std::string_view, 50> kSecretTokensOf = {
    "hf",      "hub",      "access",  "auth",   "api",    "bot",      "refresh", "github", "gitlab", "wandb",
    "slack",   "id",       "session", "csrf",   "xsrf",   "personal", "service", "ntfy",   "npm",    "pypi",
    "discord", "telegram", "neptune", "comet",  "mlflow", "runpod",   "vast",    "lambda", "aws",    "azure",
    "gcp",     "google",   "kube",    "vault",  "docker", "registry", "write",   "read",   "deploy", "bearer",
    "face",    "security", "user",    "client", "oauth",  "jwt",      "modal",   "push",   "app",    "secret"};
// "<what> token" that is none: a piece of text, or a count.
constexpr std::array<std::string_view, 27> kTokensOf = {
    "pad",   "eos",   "bos",   "unk",   "mask",   "cls",     "sep", "stop", "end",
    "start", "image", "video", "audio", "think",  "special", "new", "max",  "min",
    "per",   "next",  "first", "last",  "ignore", "loss",    "eot", "eom",  "by"};

/// "wandbApiKey_2" is wandb, api, key: words in lower case, numbers at the end left out.
class Words {
 public:
  explicit Words(std::string_view name) : folded_(to_lower(name)) {
    size_t begin = 0;
    const auto close = [&](size_t end) {
      if (end > begin) words_.push_back(std::string_view(folded_).substr(begin, end - begin));
    };
    for (size_t i = 0; i < name.size(); ++i) {
      const char c = name[i];
      const bool part = lower(c) || upper(c) || digit(c);
      const bool hump = upper(c) && i > 0 && (lower(name[i - 1]) || digit(name[i - 1]));
      if (part && !hump) continue;
      close(i);
      begin = part ? i : i + 1;
    }
    close(name.size());
    while (!words_.empty() && std::all_of(words_.back().begin(), words_.back().end(), digit)) words_.pop_back();
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  size_t size() const { return words_.size(); }
  std::string_view operator[](size_t i) const { return words_[i]; }

 private:
  std::string folded_;
  std::vector<std::string_view> words_;  // of folded_
};

/// What the word `i` of a name says.
NameSays word_says(const Words& words, size_t i, bool loud) {
  const std::string_view word = words[i], before = i == 0 ? std::string_view() : words[i - 1];
  const bool last = i + 1 == words.size();
  const NameSays shouted = loud && words.size() > 1 ? NameSays::kSecret : NameSays::kPerhaps;
  if (is_one_of(word, kPasswords) || word.ends_with("password") || word.ends_with("passwd") ||
      (word == "pwd" && i > 0)) {
    return NameSays::kPassword;
  }
  if (is_one_of(word, kSecrets) || word.ends_with("secret") || word.ends_with("apikey")) return NameSays::kSecret;
  // SMTP_PASS, PGPASS, KAGGLE_CRED: shouted; "first_pass", "bypass" and "compass" are no names of secrets.
  const bool pass = (word == "pass" && i > 0) || word == "pgpass";
  if (loud && last && pass) return NameSays::kPassword;
  if (loud && last && (word == "cred" || word == "creds")) return shouted;
  if (is_one_of(word, kDoubtful)) return shouted;
  if ((word == "key" || word == "keys") && is_one_of(before, kKeysOf)) return NameSays::kSecret;
  if (word == "key" && loud && last && i > 0) return NameSays::kSecret;
  if (word == "auth" && (last || (loud && i == 0))) return shouted;  // AUTH_HEADER; auth_backend is a setting
  if (last && i > 0 && (word == "pw" || (loud && (word == "pin" || word.ends_with("phrase"))))) {
    return NameSays::kPassword;
  }
  constexpr std::array<std::string_view, 5> kPhrases = {"signing", "seed", "recovery", "secret", "mnemonic"};
  if (last && word == "phrase" && is_one_of(before, kPhrases)) return NameSays::kPassword;
  if (word == "string" && before == "connection") return NameSays::kSecret;
  if (word == "webhook" || word == "webhooks") return shouted;
  if (last && word.ends_with("token")) {
    const std::string_view head = word.size() > 5 ? word.substr(0, word.size() - 5) : before;
    if (is_one_of(head, kTokensOf)) return NameSays::kNothing;
    return loud || is_one_of(head, kSecretTokensOf) ? NameSays::kSecret : NameSays::kPerhaps;
  }
  return NameSays::kNothing;
}

}  // namespace

NameSays name_says(std::string_view name) {
  if (!may_say(name)) return NameSays::kNothing;
  const Words words(name);
  NameSays says = NameSays::kNothing;
  const bool loud = std::none_of(name.begin(), name.end(), lower);  // NAMED_LIKE_THIS: a variable of the environment
  for (size_t i = 0; i < words.size(); ++i) says = std::max(says, word_says(words, i, loud));
  return says;
}

bool names_secret(std::string_view name) { return name_says(name) != NameSays::kNothing || declared().has(name); }

void declare_secret_variable(std::string_view name) { declared().add(name); }

bool looks_issued(std::string_view value) {
  constexpr size_t kLeast = 8;      // bytes behind the prefix: less is a version or a number
  constexpr ptrdiff_t kJoints = 2;  // more make a name of several words
  const std::string folded = to_lower(value.substr(0, kLeast));
  for (const std::string_view prefix :
       {"tok", "token", "secret", "key", "apikey", "api-key", "api_key", "pat", "auth"}) {
    if (!folded.starts_with(prefix)) continue;
    const std::string_view rest = value.substr(prefix.size());
    if (rest.size() <= kLeast || (rest.front() != '-' && rest.front() != '_')) continue;
    const bool joined =
        std::all_of(rest.begin(), rest.end(), [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
    const bool odd = std::any_of(rest.begin(), rest.end(), upper) && std::any_of(rest.begin(), rest.end(), digit);
    const auto joints = std::count_if(rest.begin() + 1, rest.end(), [](char c) { return !is_alnum(c); });
    if (joined && joints <= kJoints && (odd || opaque(rest.substr(1)))) return true;
  }
  return false;
}

namespace {

/// "Bearer X" and nothing else, whatever it is called.
bool is_bearer(std::string_view value) {
  constexpr std::string_view kScheme = "bearer ";
  if (value.size() <= kScheme.size() || to_lower(value.substr(0, kScheme.size())) != kScheme) return false;
  const std::string_view rest = trim(value.substr(kScheme.size()));
  const bool word = rest.find(' ') == std::string_view::npos && rest.size() > 3;
  return word && !stands_for_secret(rest) && rest.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

std::string redacted_setting(std::string_view name, std::string_view value) {
  const NameSays says = declared().has(name) ? NameSays::kPassword : name_says(name);
  const std::string_view bare = trim(value);
  if (looks_issued(bare) || is_bearer(bare)) return std::string(kRedacted);
  const bool number = bare.find_first_not_of("0123456789.,+-eE") == std::string_view::npos;
  const bool secret = says == NameSays::kPassword || (says == NameSays::kSecret && !number);
  if (secret && !stands_for_secret(bare)) return std::string(kRedacted);
  const std::string both = redact_secrets(cat(name, "=", value));
  if (both.size() <= name.size() || both[name.size()] != '=') return redact_secrets(value);
  return both.substr(name.size() + 1);
}

std::vector<std::string> redact_words(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool next = false;
  for (const std::string& word : words) {
    const bool option = word.starts_with("-") && !contains(word, "=");
    const size_t value = word.find('=') + 1;  // 0: all of the word is one
    const std::string_view bare = std::string_view(word).substr(value);
    if (looks_issued(bare) || (value > 0 && is_bearer(bare))) {
      out.push_back(cat(std::string_view(word).substr(0, value), kRedacted));
      next = false;
      continue;
    }
    out.push_back(next && !option ? std::string(kRedacted) : redact_secrets(word));
    next = option && names_secret(word);
  }
  return out;
}

}  // namespace mw
