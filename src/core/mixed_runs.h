// Files of two runs that were given as one.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// Says of pairs of files that they are of different runs: at the same steps of the same attempt nearly all numbers of
/// several signals differ, under the same names. One sentence for people each, and at most `kMixedPairsReported` of
/// them. Ranks that each log only what they see themselves can look the same; the sentence says so.
std::vector<std::string> mixed_runs(const State& state);

constexpr size_t kMixedPairsReported = 3;

/// What two runs of one recipe differ in from the first step on. A learning rate follows its schedule, a counter
/// counts, and clocks differ between two sinks of one run.
inline constexpr std::array<std::string_view, 9> kTellingSignals = {"reward.mean", "reward.std",     "loss.total",
                                                                    "loss.policy", "entropy",        "grad_norm",
                                                                    "kl.ref",      "advantage.mean", "response.length"};
/// Why an attempt begins with a log of its own that appeared beside the one before, in a live watch.
inline constexpr std::string_view kAnotherLog = "Starting another log's training";

/// Two figures of one step that are not the same one, rounded for a console.
bool figures_differ(double a, double b);

}  // namespace mw
