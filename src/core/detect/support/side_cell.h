// Cells of a notebook that fail beside its training: a plot, an upload, a question to the trained model.
#pragma once

#include <string_view>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// Is the symptom the error with which a cell of a notebook ended?
bool ended_cell(const State& state, const Symptom& symptom);

/// Did the chain end nothing but a notebook's cell that does not train: others put something out after it, or the
/// training had done its plan?
bool is_beside(const State& state, const FailureChain& chain);
/// Of such a chain `severity` is too much: a warning; information where a later cell got further.
Severity side_severity(const State& state, const FailureChain& chain, Severity severity);

/// What is said of it behind what failed.
inline constexpr std::string_view kBeside = "; a cell of the notebook ended with it, and not the training";

}  // namespace mw::detect
