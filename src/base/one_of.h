// Membership in a short table of words.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace mw {

/// To the letter; for tables that are too short for a hash.
inline bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  // Most words differ in their first letter, which is found without a call.
  return std::any_of(words.begin(), words.end(), [word](std::string_view one) {
    return one.size() == word.size() && (word.empty() || (one[0] == word[0] && one == word));
  });
}

}  // namespace mw
