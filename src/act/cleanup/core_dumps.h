// Core dumps of a run's own processes.
#pragma once

#include <string_view>

#include "act/cleanup/cleanup_plan.h"
#include "platform/disk.h"

namespace mw {

inline constexpr std::string_view kCoreDumps = "core-dumps";

/// Adds those in the command's folder and in the folders of checkpoints whose header names a session of this run.
void plan_core_dumps(Disk& disk, const CleanupScope& scope, CleanupPlan& plan);

}  // namespace mw
