// The status of a recorded run: who watches it, what its keeper recorded, what was requested and decided.
#pragma once

#include <string>

#include "api/requests.h"
#include "base/result.h"
#include "core/state.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/process.h"

namespace mw {

inline constexpr std::string_view kWatcherFile = "watcher.json";  ///< in a run's folder: who watches it

/// Leaves word in a run's folder that this process watches it.
Result<void> sign_watch(Disk& disk, Processes& processes, const std::string& run_folder);

/// `known`: of the run's journal, as far as it can be read.
Result<RunStatus> run_status(Disk& disk, Processes& processes, const std::string& run_folder, const Supervision& known);

/// Adds how old the run's last output and its last step are.
void add_ages(Disk& disk, const State& state, RunStatus& status);

}  // namespace mw
