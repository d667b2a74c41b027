#include "read/lines/held_out.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/byte_set.h"
#include "base/one_of.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kTitleBytes = 60;  // of a line that can be such words
constexpr size_t kNameBytes = 60;   // of a figure's name

constexpr std::array<std::string_view, 11> kHeldOut = {
    "eval", "evals", "evaluation", "val", "validation", "held-out", "held_out", "heldout", "holdout", "test", "dev"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-' || c == '/' ||
         c == '@' || c == '.';
}

/// What stands before the first value.
std::string_view title_of(std::string_view text) {
  text = text.substr(0, kTitleBytes);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool frame = text[i] == '=' && (i == 0 || text[i - 1] == '=' || text.substr(i + 1, 1) == "=");
    const bool number = i > 0 && text[i - 1] == ' ' && is_digit(text[i]) &&
                        text.substr(0, i).find_first_not_of(" -=#[(") != std::string_view::npos;
    if (number || (text[i] == '=' && !frame) || text[i] == '{' || text[i] == '|') return text.substr(0, i);
    if (text[i] != ':') continue;
    const std::string_view behind = trim(text.substr(i + 1, 3));
    if (!behind.empty() && (is_digit(behind[0]) || behind[0] == '-')) return text.substr(0, i);
  }
  return text;
}

std::vector<std::string_view> words_of(std::string_view title) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < title.size();) {
    size_t end = i;
    while (end < title.size() && in_word(title[end])) ++end;
    if (end > i) words.push_back(title.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

/// Whether a word begins as one of kHeldOut does; most titles are refuted by that.
bool may_say(std::string_view title) {
  constexpr std::array<std::string_view, 6> kBegins = {"ev", "va", "he", "ho", "te", "de"};
  for (size_t i = 0; i + 1 < title.size(); ++i) {
    if (i > 0 && in_word(title[i - 1])) continue;
    const std::array<char, 2> begin = {static_cast<char>(title[i] | 32), static_cast<char>(title[i + 1] | 32)};
    if (is_one_of({begin.data(), begin.size()}, kBegins)) return true;
  }
  return false;
}

/// Words of everyday, too: the tests that a program passed, the device.
bool is_everyday(std::string_view word) { return word == "test" || word == "dev"; }

}  // namespace

bool is_held_out_word(std::string_view word) {
  static constexpr ByteSet kBegins("evhtd");  // most words begin otherwise
  static_assert(
      std::all_of(kHeldOut.begin(), kHeldOut.end(), [](std::string_view one) { return kBegins.holds(one[0]); }));
  return !word.empty() && kBegins.holds(word.front()) && is_one_of(word, kHeldOut);
}

std::string held_out_figure(std::string_view key) {
  static constexpr std::array<std::string_view, 8> kBetween = {"set", "data", "split", "on", "the", "of", "at", "out"};
  if (key.size() > kNameBytes) return {};
  const std::string name = to_lower(key);
  const std::string_view all = name;
  std::string rest;
  bool held_out = false, held = false;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find_first_of(" _-/.:()[]", at), all.size());
    const std::string_view word = all.substr(at, end - at);
    at = end + 1;
    held_out = held_out || is_held_out_word(word) || (held && word == "out");
    held = word == "held";
    if (word.empty() || held || is_held_out_word(word) || is_one_of(word, kBetween)) continue;
    if (!rest.empty()) rest.push_back('_');
    rest.append(word);
  }
  return held_out ? rest : std::string();
}

bool says_held_out(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kTraining = {"train", "training", "rollout", "rollouts"};
  // "test" is a word of everyday: only the first one, before what is measured or before a ']' or ':'.
  static constexpr std::array<std::string_view, 11> kTested = {
      "set", "accuracy", "acc", "loss", "reward", "score", "metrics", "results", "pass@1", "step", "epoch"};
  const std::string_view before = title_of(text);
  if (!may_say(before)) return false;
  const std::string title = to_lower(before);
  const std::vector<std::string_view> words = words_of(title);
  const auto any = [&words](const auto& is) { return std::any_of(words.begin(), words.end(), is); };
  if (any([](std::string_view word) { return is_one_of(word, kTraining); })) return false;
  if (any([](std::string_view word) { return is_held_out_word(word) && !is_everyday(word); })) return true;
  if (words.empty() || words[0] != "test") return false;
  const size_t end = title.find("test") + 4;
  return (end < text.size() && (text[end] == ']' || text[end] == ':')) ||
         (words.size() > 1 && is_one_of(words[1], kTested));
}

}  // namespace mw
