#include "read/lines/step_name.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/one_of.h"
#include "base/text.h"
#include "read/lines/metric_text.h"

namespace mw {
namespace {

constexpr size_t kLongest = 40;  // bytes of a name that is looked at

constexpr std::array<std::string_view, 4> kCounters = {"step", "iteration", "iter", "update"};
constexpr std::array<std::string_view, 26> kWhose = {
    "global",    "train",     "training", "trainer", "current", "cur",     "curr",     "opt",  "optim",
    "optimizer", "optimiser", "gradient", "grad",    "policy",  "learner", "outer",    "grpo", "ppo",
    "dpo",       "gspo",      "rloo",     "rl",      "rlhf",    "sgd",     "progress", "loop"};
constexpr std::array<std::string_view, 3> kNumber = {"num", "number", "n"};

// Best first: what is nearest to an update of the weights.
constexpr std::array<std::string_view, 23> kAxes = {
    "batch_index",    "batch_idx",       "rollout_index", "rollout_idx",     "generation_index",
    "round",          "round_index",     "cycle",         "timesteps",       "timestep",
    "num_timesteps",  "total_timesteps", "env_steps",     "total_env_steps", "time/total_timesteps",
    "episode",        "episodes",        "episode_index", "episode_idx",     "episode_num",
    "episode_number", "episode_count",   "n_episodes"};

using metric_text::is_letter;

/// What the words of a name are, taken one after the other.
struct Words {
  int counters = 0, whose = 0, numbers = 0;
  bool several = false, other = false;

  void take(std::string_view word) {
    if (is_one_of(word, kCounters)) {
      ++counters;
    } else if (word == "updates") {
      ++counters;
      several = true;
    } else if (is_one_of(word, kWhose)) {
      ++whose;
    } else if (is_one_of(word, kNumber)) {
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
    const bool letter = is_letter(c);
    const bool begins = letter && c <= 'Z' && i > 0 && is_letter(name[i - 1]) && name[i - 1] >= 'a';  // "globalStep"
    if ((begins || !letter) && !word.empty()) {
      words.take(to_lower(word));
      word.clear();
    }
    if (letter) {
      word.push_back(c);
    } else if (std::string_view("_/-. ").find(c) == std::string_view::npos) {
      return false;
    }
  }
  // "update_step": the one says of what the other is. "num_steps" is a setting, "num_updates" a count.
  if (words.other || words.counters < 1 || words.counters > 2) return false;
  return words.numbers == 0 || (words.numbers == 1 && (words.several || words.whose > 0 || name.ends_with("number")));
}

bool may_be_length(std::string_view name) { return name == "steps" || name == "n_steps"; }

bool names_episode(std::string_view name) {
  return name == "episode" || name == "episode_number" || name == "episode_idx" || name == "episode_index";
}

int axis_rank(std::string_view name) {
  if (name.size() < 5 || name.size() > 20) return -1;
  const auto* const found = std::find(kAxes.begin(), kAxes.end(), name);
  return found == kAxes.end() ? -1 : static_cast<int>(found - kAxes.begin());
}

}  // namespace mw
