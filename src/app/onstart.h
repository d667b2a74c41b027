// midwatch onstart: what a fresh machine needs to go on with a run from its store.
#pragma once

#include <memory>

#include "api/shipping.h"
#include "base/result.h"
#include "platform/disk.h"
#include "platform/lock.h"
#include "platform/process.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// Puts the newest verified checkpoint where the run's trainer looks for it, and sets its framework's pointer. A whole
/// one of this run that lies there and is further is what the run goes on from instead: the pointer is never led back
/// from it. Broken ones in the way are quarantined where that is allowed. Where a run lives in that folder of
/// checkpoints, or another process begins one there, nothing is done but to say so (`taken`); `hold` keeps others off
/// while it is held. kInvalid: where the checkpoints belong is not known, or the run's name is not to be had; kDenied:
/// what lies there under the checkpoint's name is broken and stays, or is another run's; kNotFound: the store has
/// checkpoints, and none of them is whole.
Result<StartAnswer> prepare_start(Disk& disk, Processes& processes, const KnowledgeBase& knowledge,
                                  const StartRequest& request, std::unique_ptr<Lock>& hold);

/// Receives the journals and logs of the runs that shipped to a place.
Result<LogsAnswer> fetch_logs(Disk& disk, const LogsRequest& request);

}  // namespace mw
