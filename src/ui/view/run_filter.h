// Finding runs among all that are recorded.
#pragma once

#include <string>

#include "api/requests.h"

namespace mw {

/// "running", "read-only", "crashed": what it does now, or how it ended.
std::string state_of(const RunsAnswer::Run& run);

/// Is it one of those that are wanted? A status is a part of state_of() or of the verdict; "failed" stands for
/// crashed, ended-early and stalled. A run whose journal cannot be read is found by its name only.
bool passes(const RunFilter& filter, const RunsAnswer::Run& run);

}  // namespace mw
