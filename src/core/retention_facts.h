// What the state of a run says that a decision over its checkpoints needs.
#pragma once

#include <string>

#include "core/retention.h"
#include "core/state.h"

namespace mw {

/// `keep_best`: the signal of the rules, of an evaluation where the run has one of that name; "": none. Of a signal
/// whose trouble lies upwards (a loss) the lowest value is the best.
RetentionFacts retention_facts(const State& state, const std::string& keep_best, bool has_store);

}  // namespace mw
