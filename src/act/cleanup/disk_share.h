// What of a plan goes because a disk that holds checkpoints is fuller than [cleanup] disk_share says.
#pragma once

#include <string>
#include <vector>

#include "act/cleanup/cleanup_plan.h"

namespace mw {

/// Is one of the file systems that hold `roots` used by more than that share of it? One that does not answer is not.
bool is_above_share(System& system, const std::vector<std::string>& roots, double share);

/// Leaves in the plan what has to go, in its order, for those file systems to be below the share, and nothing that
/// lies elsewhere. Where all of it together would not do that, somebody else fills that file system: then nothing of it
/// goes for the share's sake, but for what was begun before.
void keep_what_share_needs(Disk& disk, System& system, const std::vector<std::string>& roots, double share,
                           CleanupPlan& plan);

}  // namespace mw
