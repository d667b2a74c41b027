// Errors that a run has lived through time and again.
#pragma once

#include <vector>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// An exception, or words of the log, that the run has lived through time and again: their last occurrence ends nothing
/// either, unless the attempt says that it failed, or the last exception went past what had caught it.
void outlive_recurrent_errors(const State& state, std::vector<Symptom>& symptoms);

}  // namespace mw::detect
