// midwatch onstart: what a fresh machine needs to go on with a run from its store.
#pragma once

#include "api/shipping.h"
#include "base/result.h"
#include "platform/disk.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// Puts the newest verified checkpoint where the run's trainer looks for it, and sets its framework's pointer. An
/// earlier one that lies there stays; one of the same name is kept where nothing speaks against it. kInvalid: where it
/// belongs is not known, or what lies there under its name is broken; kNotFound: the store has checkpoints, and none of
/// them is whole.
Result<StartAnswer> prepare_start(Disk& disk, const KnowledgeBase& knowledge, const StartRequest& request);

/// Receives the journals and logs of the runs that shipped to a place.
Result<LogsAnswer> fetch_logs(Disk& disk, const LogsRequest& request);

}  // namespace mw
