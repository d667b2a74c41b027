#include "read/lines/step_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace mw {
namespace {

constexpr size_t kLongest = 40;  // bytes of a name that is looked at

constexpr std::array<std::string_view, 4> kCounters = {"step", "iteration", "iter", "update"};
constexpr std::array<std::string_view, 26> kWhose = {
    "global",    "train",     "training", "trainer", "current", "cur",     "curr",     "opt",  "optim",
    "optimizer", "optimiser", "gradient", "grad",    "policy",  "learner", "outer",    "grpo", "ppo",
    "dpo",       "gspo",      "rloo",     "rl",      "rlhf",    "sgd",     "progress", "loop"};
constexpr std::array<std::string_view, 3> kNumber = {"num", "number", "n"};

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/// What the words of a name are, taken one after the other.
struct Words {
  int counters = 0, whose = 0, numbers = 0;
  bool several = false, other = false;

  void take(const std::string& word) {
    if (is_one_of(kCounters, word)) {
      ++counters;
    } else if (word == "updates") {
      ++counters;
      several = true;
    } else if (is_one_of(kWhose, word)) {
      ++whose;
    } else if (is_one_of(kNumber, word)) {
      ++numbers;
    } else {
      other = true;
    }
  }
};

}  // namespace

bool counts_updates(std::string_view name) {
  if (name.size() < 4 || name.size() > kLongest) return false;
  Words words;
  std::string word;
  for (size_t i = 0; i <= name.size() && !words.other; ++i) {
    const char c = i < name.size() ? name[i] : '_';
    const bool begins = is_upper(c) && i > 0 && is_lower(name[i - 1]);  // "globalStep"
    const bool letter = is_upper(c) || is_lower(c);
    if ((begins || !letter) && !word.empty()) {
      words.take(word);
      word.clear();
    }
    if (letter) {
      word.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    } else if (std::string_view("_/-. ").find(c) == std::string_view::npos) {
      return false;
    }
  }
  // "update_step": the one says of what the other is. "num_steps" is a setting, "num_updates" a count.
  if (words.other || words.counters < 1 || words.counters > 2) return false;
  return words.numbers == 0 || (words.numbers == 1 && (words.several || words.whose > 0 || name.ends_with("number")));
}

}  // namespace mw
