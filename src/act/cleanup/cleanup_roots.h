// In which folders below the declared ones a run keeps its checkpoints.
#pragma once

#include "act/cleanup/cleanup_plan.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// Adds them to the roots of `scope`. kIo when the disk does not answer.
Result<void> add_roots_below(Disk& disk, CleanupScope& scope);

}  // namespace mw
