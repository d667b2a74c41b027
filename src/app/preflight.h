// `midwatch preflight`: facts gathered, lints asked.
#pragma once

#include <optional>

#include "api/preflight.h"
#include "base/result.h"
#include "core/state.h"

namespace mw {

/// Bytes of the largest checkpoint that a run was seen to write; nullopt: none was seen.
std::optional<double> largest_checkpoint(const State& state);

/// Reads the command, its files and this machine. `measured` is an earlier run's, nullptr without one. An error: there
/// is nothing to check, or a value of the request is wrong.
Result<PreflightAnswer> run_preflight(const PreflightRequest& request, const State* measured);

}  // namespace mw
