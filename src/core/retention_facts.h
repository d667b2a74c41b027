// What the state of a run says that a decision over its checkpoints needs.
#pragma once

#include <string>

#include "core/retention.h"
#include "core/state.h"

namespace mw {

/// `keep_best` as in RetentionRules: the signal is that of an evaluation where the run has one of that name; "": none.
/// Where it does not say which way is better the signal does (docs/signals.md), or the words in its name; where these
/// do not either there are no scores, and `doubt` says so.
RetentionFacts retention_facts(const State& state, const std::string& keep_best, bool has_store);

}  // namespace mw
