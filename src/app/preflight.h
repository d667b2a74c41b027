// `midwatch preflight`: facts gathered, lints asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/preflight.h"
#include "base/result.h"
#include "core/state.h"

namespace mw {

/// Bytes of the largest checkpoint that a run was seen to write; nullopt: none was seen.
std::optional<double> largest_checkpoint(const State& state);

/// Reads the command, its files and this machine. `measured` is an earlier run's, nullptr without one. An error: there
/// is nothing to check, or a value of the request is wrong.
Result<PreflightAnswer> run_preflight(const PreflightRequest& request, const State* measured);

/// What a framework (by the name of its dialect) calls the steps between its saves: "trainer.save_freq"; "": not known.
std::string save_setting(std::string_view framework);

}  // namespace mw
