// A watch may be started before the run writes its first line.
#pragma once

#include "api/requests.h"
#include "base/result.h"
#include "platform/doors.h"

namespace mw {

/// Waits until all paths of the request are there and, where they are folders, a log or a metric file in one of them,
/// and says once for each what it waits for. kNotFound at once where
/// not even the folder is there in which a path would lie (most likely a slip of the pen), or when exit_after_idle_s
/// passed (kUnsupported: without a file in them); kInterrupted when the watch is asked to end.
Result<void> await_paths(const Doors& doors, const AttachRequest& request);

}  // namespace mw
