#include "core/detect/support/reward_count.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {

namespace {

/// "rewards/std", "reward_format_std": how far the rewards of a step lie apart.
bool is_spread(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kWords = {"std", "stddev", "stdev", "var", "variance"};
  while (!name.empty()) {
    const size_t end = std::min(name.find_first_of("_/.- "), name.size());
    if (std::find(kWords.begin(), kWords.end(), name.substr(0, end)) != kWords.end()) return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

}  // namespace

bool counts_rewards(std::string_view component) {
  static constexpr std::array<std::string_view, 6> kOf = {"valid", "nan", "error", "fail", "timeout", "missing"},
                                                   kShares = {"rate", "ratio", "frac", "fraction", "share", "count"};
  static constexpr std::array<std::string_view, 5> kAmounts = {"_time", "_seconds", "_latency", "_count", "_duration"};
  const std::string name = cat("_", to_lower(component.substr(component.rfind('.') + 1)));
  const auto ends = [&name](std::string_view end) { return name.ends_with(end); };
  const auto holds = [&name](std::string_view word) { return contains(name, word); };
  return is_spread(name) || std::any_of(kAmounts.begin(), kAmounts.end(), ends) ||
         (std::any_of(kOf.begin(), kOf.end(), holds) && std::any_of(kShares.begin(), kShares.end(), ends));
}

bool named_like_reward(std::string_view raw) {
  static constexpr std::array<std::string_view, 4> kWords = {"reward", "return", "score", "correct"};
  return std::any_of(kWords.begin(), kWords.end(), [raw](std::string_view word) { return contains_folded(raw, word); });
}

}  // namespace mw
