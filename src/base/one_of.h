// Membership in a short table of words.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace mw {

/// To the letter; for tables that are too short for a hash.
inline bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace mw
