// The place of an exception as event::TraceSeen has it: "/w/reward.py:8 in score", or, where a library raised it,
// "/w/reward.py:8 in score, raised in /v/json/decoder.py:3 in decode".
#pragma once

#include <cstdint>
#include <string_view>

namespace mw {

/// Between the run's own frame and the one that raised.
inline constexpr std::string_view kRaisedIn = ", raised in ";

/// The run's own frame, or the only one.
inline std::string_view own_frame(std::string_view place) { return place.substr(0, place.find(kRaisedIn)); }

/// The frame that raised, or the only one.
inline std::string_view raising_frame(std::string_view place) {
  const size_t at = place.find(kRaisedIn);
  return at == std::string_view::npos ? place : place.substr(at + kRaisedIn.size());
}

/// What event::TraceSeen has as its pid where a line's prefix names the rank alone ("[rank3]:"): below -1.
inline int64_t pid_of_rank(int64_t rank) { return -2 - rank; }

}  // namespace mw
