// A person's `midwatch restore`: what was quarantined of a run's checkpoints, and putting it back.
#pragma once

#include <string>

#include "api/requests.h"
#include "platform/disk.h"
#include "platform/process.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// What was quarantined and is still there, by the manifests beside it. kInvalid: midwatch does not supervise the run.
Result<RestoreAnswer> could_restore(Disk& disk, const RestoreRequest& request);

/// Puts it back, and each pointer that still says what midwatch wrote as it was; nothing is written over. Takes the
/// run's lock; each action is in the run's journal before it is done, and `who` asked for it. kDenied: somebody watches
/// the run, or its command lives.
Result<RestoreAnswer> restore_by_hand(Disk& disk, Processes& processes, const RestoreRequest& request,
                                      const std::string& who);

}  // namespace mw
