// Files of two runs that were given as one.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace mw {

/// Says of pairs of files that they are of different runs: at the same steps of the same attempt nearly all numbers of
/// several signals differ, under the same names. One sentence for people each, and at most `kMixedPairsReported` of
/// them. Ranks that each log only what they see themselves can look the same; the sentence says so.
std::vector<std::string> mixed_runs(const State& state);

constexpr size_t kMixedPairsReported = 3;

}  // namespace mw
