// A person's `midwatch cleanup`: what could be deleted of a supervised run, and its removal where no midwatch watches.
#pragma once

#include <string>

#include "api/requests.h"
#include "platform/clock.h"
#include "platform/disk.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// kInvalid: midwatch does not supervise the run, or a word of `what` is none.
Result<CleanupAnswer> plan_by_hand(Disk& disk, const KnowledgeBase& knowledge, const CleanupRequest& request);

/// What the [retention] of the run's settings would remove, into `removable` of each; nothing where it says nothing, or
/// the run is none that midwatch supervises.
void say_what_would_go(Disk& disk, const KnowledgeBase& knowledge, const std::string& run_folder,
                       CheckpointsAnswer& answer);

/// Takes the run's lock, so that no midwatch comes between, plans anew, and removes; each action is in the run's
/// journal before it is done, and `who` asked for it. kDenied: somebody watches the run.
Result<CleanupAnswer> cleanup_by_hand(Disk& disk, const KnowledgeBase& knowledge, const CleanupRequest& request,
                                      const std::string& who);

/// Waits for a moment for what the run's midwatch did of the request of that time.
Result<CleanupAnswer> wait_for_cleanup(Disk& disk, Clock& clock, const std::string& run_folder, Time asked);

}  // namespace mw
