#include "read/interpret/arm_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "base/byte_set.h"
#include "base/one_of.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr std::array<std::string_view, 19> kKeys = {"arm",      "method",      "variant",   "seed",      "condition",
                                                    "config",   "config_name", "setting",   "ablation",  "treatment",
                                                    "strategy", "algo",        "algorithm", "optimizer", "task",
                                                    "env",      "env_name",    "domain",    "lora_rank"};
constexpr std::array<std::string_view, 13> kRunKeys = {
    "run",        "run_id", "run_name", "run_label",       "exp", "exp_name", "exp_id",
    "experiment", "trial",  "trial_id", "experiment_name", "job", "job_name"};
// What stands in brackets before the lines of one training: its parts, and what they do.
constexpr std::array<std::string_view, 48> kParts = {
    "rank",     "gpu",      "node",    "worker",  "process", "proc",    "device", "host",    "main",    "train",
    "training", "trainer",  "eval",    "val",     "test",    "actor",   "critic", "ref",     "policy",  "value",
    "reward",   "rm",       "rollout", "learner", "engine",  "server",  "client", "teacher", "student", "metrics",
    "metric",   "log",      "logger",  "info",    "debug",   "warning", "error",  "step",    "iter",    "epoch",
    "update",   "progress", "status",  "stats",   "summary", "phase",   "stage",  "episode"};
constexpr size_t kNameBytes = 40;
constexpr size_t kLineBytes = 400;    // in which an arm is named
constexpr size_t kHeadingBytes = 80;  // of a line that only says which arm begins

bool in_word(char c) {
  static constexpr ByteSet kWord("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return kWord.holds(c);
}
bool in_value(char c) { return in_word(c) || c == '.' || c == '-' || c == '+' || c == '>'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view left(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

/// Which lengths the keys have that begin with one letter and end with another, a bit for each length.
class KeyShapes {
 public:
  constexpr KeyShapes() {
    for (const std::string_view key : kKeys) add(key);
    for (const std::string_view key : kRunKeys) add(key);
  }
  /// Of a word in either case; false of nearly all that are no keys.
  constexpr bool may_be(std::string_view word) const {
    const size_t first = letter(word.front()), last = letter(word.back());
    return first < kLetters && last < kLetters && word.size() < kBits &&
           (lengths_[first][last] >> word.size() & 1) != 0;
  }

 private:
  static constexpr size_t kLetters = 26, kBits = 32;
  static constexpr size_t letter(char c) { return static_cast<unsigned char>(c | 0x20) - size_t{'a'}; }
  constexpr void add(std::string_view key) {
    lengths_[letter(key.front())][letter(key.back())] |= uint32_t{1} << key.size();
  }
  std::array<std::array<uint32_t, kLetters>, kLetters> lengths_{};
};

bool is_key(std::string_view word) {
  static constexpr KeyShapes kShapes;
  if (word.size() < 3 || !kShapes.may_be(word)) return false;
  const std::string low = to_lower(word);
  return names_arm(low) || names_run(low);
}

/// Tasks and environments that have numbers are samples, or copies of one.
bool is_numbered(std::string_view key, std::string_view value) {
  return names_task(to_lower(key)) && std::all_of(value.begin(), value.end(), is_digit);
}

void add(std::string_view key, std::string_view value, std::string& out) {
  if (is_numbered(key, value)) return;
  if (!out.empty()) out += ' ';
  out += to_lower(key);
  out += '=';
  out += value;
}

/// The value behind a key, as it is written; the rest of the text into `rest`. `spaced`: may a space alone be between?
std::string_view value_of(std::string_view text, bool spaced, std::string_view& rest) {
  std::string_view at = left(text);
  const bool set = !at.empty() && (at.front() == '=' || at.front() == ':');
  if (set) at = left(at.substr(1));
  if (!set && (!spaced || at.size() == text.size())) return {};
  const bool quoted = !at.empty() && (at.front() == '"' || at.front() == '\'');
  if (quoted) at.remove_prefix(1);
  size_t end = 0;
  while (end < at.size() && in_value(at[end])) ++end;
  if (end == 0 || end > kNameBytes) return {};
  const std::string_view value = at.substr(0, end);
  rest = at.substr(std::min(at.size(), end + (quoted ? 1 : 0)));
  return value;
}

/// "[high] step 3", "[arm B] step 3".
void of_bracket(std::string_view text, std::string& out) {
  const size_t close = text.substr(0, kNameBytes + 2).find(']');
  if (close == std::string_view::npos || close < 2 || left(text.substr(close + 1)).empty()) return;
  const std::string_view inner = text.substr(1, close - 1);
  size_t word = 0;
  while (word < inner.size() && in_word(inner[word])) ++word;
  std::string_view rest;
  if (is_key(inner.substr(0, word))) {
    if (const std::string_view value = value_of(inner.substr(word), true, rest); !value.empty())
      return add(inner.substr(0, word), value, out);
  }
  if (std::isalpha(static_cast<unsigned char>(inner.front())) == 0) return;
  if (!std::all_of(inner.begin(), inner.end(), [](char c) { return in_value(c) || c == '='; })) return;
  std::string part = to_lower(inner);
  while (!part.empty() && (is_digit(part.back()) || part.back() == '-' || part.back() == '_')) part.pop_back();
  if (!is_one_of(part, kParts)) out = cat("[", inner, "]");
}

/// Of "name=value" and of names that begin a column of the line, those that `is` accepts.
template <typename Is>
void read_words(std::string_view text, const Is& is, std::string& out) {
  bool begins = true;  // of the line, or of a column of it
  for (size_t i = 0; i < text.size();) {
    if (!in_word(text[i])) {
      begins = begins || text[i] == '|' || text[i] == '[' || text[i] == ',';
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    const bool behind = i > 0 && (text[i - 1] == '/' || text[i - 1] == '.' || text[i - 1] == '-');
    std::string_view rest;
    if (!behind && is(word)) {
      if (const std::string_view value = value_of(text.substr(end), begins, rest); !value.empty()) {
        add(word, value, out);
        end = text.size() - rest.size();
      }
    }
    begins = false;
    i = std::max(end, i + 1);
  }
}

constexpr std::string_view kDecoration = "=-#*~> \t";

}  // namespace

bool names_arm(std::string_view key) { return is_one_of(key, kKeys); }
bool names_task(std::string_view key) {
  constexpr std::array<std::string_view, 4> kTasks = {"task", "env", "env_name", "domain"};
  return is_one_of(key, kTasks);
}
bool names_run(std::string_view key) { return is_one_of(key, kRunKeys); }
bool names_arm_alone(std::string_view key) {
  constexpr std::array<std::string_view, 8> kAlone = {"arm",      "seed", "variant", "condition",
                                                      "ablation", "run",  "exp",     "experiment"};
  return is_one_of(key, kAlone);
}
bool names_rate(std::string_view key) { return key == "lr" || key == "learning_rate"; }

void arm_of_line(std::string_view text, std::string& out) {
  out.clear();
  text = left(text.substr(0, kLineBytes));
  if (text.starts_with('[')) {
    of_bracket(text, out);
    if (!out.empty()) return;
  }
  read_words(
      text, [](std::string_view word) { return is_key(word); }, out);
  if (out.empty() && (contains(text, "lr") || contains(text, "learning_rate"))) read_words(text, names_rate, out);
}

void arm_of_heading(std::string_view text, std::string& out) {
  out.clear();
  if (text.size() > kHeadingBytes || text.size() < 4) return;
  const size_t first = text.find_first_not_of(kDecoration);
  if (first == std::string_view::npos) return;
  text = text.substr(first, text.find_last_not_of(kDecoration) + 1 - first);
  constexpr std::array<std::string_view, 10> kBegins = {"running", "starting",  "training", "begin", "beginning",
                                                        "start",   "launching", "now",      "with",  "for"};
  for (int words = 0; words < 4; ++words) {
    size_t end = 0;
    while (end < text.size() && in_word(text[end])) ++end;
    const std::string_view word = text.substr(0, end);
    std::string_view rest;
    if (is_key(word)) {
      const std::string_view value = value_of(text.substr(end), true, rest);
      rest = left(rest);
      const bool alone = rest.empty() || rest.front() == '(' || rest.front() == '[' || rest == ":" || rest == "...";
      if (!value.empty() && alone && rest.size() < 12) return add(word, value, out);
    }
    if (!is_one_of(to_lower(word), kBegins)) return;
    text = left(text.substr(end));
  }
}

}  // namespace mw
