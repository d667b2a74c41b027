// Processes that do the same work, as the ranks of a trainer do: where most of them wait for one, it is the one that
// does something else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/system.h"

namespace mw::components {

struct Ranks {
  std::vector<int64_t> odd;  ///< those that do something else than most; empty where there is no such difference
  size_t alike = 0;          ///< how many the others are
  std::string doing;         ///< what these do: "run", "wait in futex"
};
constexpr size_t kFewestRanks = 3, kRanks = 64;  ///< that are compared

/// Reads the main threads of `pids` three times within a few milliseconds; blocks meanwhile. A difference is reported
/// of kFewestRanks and more, where at most a quarter of them is odd (one, where there are fewer than eight).
Ranks compare_ranks(System& system, const std::vector<int64_t>& pids);

}  // namespace mw::components
