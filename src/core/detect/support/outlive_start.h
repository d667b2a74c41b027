// What failed in a file of its own before the training began, and did not keep it from training.
#pragma once

#include <vector>

#include "core/detect/support/failure_chain.h"
#include "core/detect/support/progress.h"

namespace mw::detect {

/// Steps and errors may lie in two files that no clock relates (a job's .out and .err). A program that cannot begin, as
/// a module is missing or its settings are refused, did no steps: where steps were done, and the file of errors goes on
/// long after it with other lines, another program was what failed (a login of a tracker, a probe of a launch script).
void outlive_start(const State& state, const Progress& progress, std::vector<Symptom>& symptoms);

}  // namespace mw::detect
