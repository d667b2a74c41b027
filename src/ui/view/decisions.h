// What midwatch knows and decided of a run that it supervises, in words.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"

namespace mw {

/// The life of each attempt and what was decided after it, the latest `limit`, in order. Empty for a run that midwatch
/// only reads.
std::vector<std::string> decision_lines(const State& state, size_t limit);

/// "restart after 2.0 s. It ended: engine-dead, after progress.": what was decided after that attempt.
std::string decision_text(const SupervisedAttempt& attempt);

}  // namespace mw
