// Stages a fault and watches, through the run's own record, what midwatch makes of it.
#pragma once

#include "api/drill.h"
#include "base/result.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "platform/process.h"

namespace mw {

/// Runs one drill to its end. Errors: no such drill, no practice run beside midwatch, a run that is not supervised
/// or not running, nothing found to hit.
Result<DrillResult> run_drill(Disk& disk, Clock& clock, Processes& processes, const DrillRequest& request);

}  // namespace mw
