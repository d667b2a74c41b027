// The status of a recorded run: who watches it, what its keeper recorded, what was requested and decided.
#pragma once

#include <string>

#include "api/requests.h"
#include "base/result.h"
#include "core/supervise/supervision.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/process.h"

namespace mw {

/// The folder of the run called `run` under `home`, "" = the one whose journal was written last. kNotFound.
Result<std::string> recorded_folder(Disk& disk, const std::string& home, const std::string& run);

/// Leaves word in a run's folder that this process watches it.
Result<void> sign_watch(Disk& disk, Processes& processes, const std::string& run_folder);

/// `known`: of the run's journal, as far as it can be read.
Result<RunStatus> run_status(Disk& disk, Processes& processes, const std::string& run_folder, const Supervision& known);

}  // namespace mw
