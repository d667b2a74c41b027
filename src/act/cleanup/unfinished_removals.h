// What an earlier midwatch left in the middle of deleting it: it has its other name, and perhaps not all of it is gone.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "act/cleanup/cleanup_plan.h"
#include "platform/disk.h"

namespace mw {

struct UnfinishedRemovals {
  std::vector<CleanupItem> items;
  bool unsure = false;  ///< the disk did not say all
};

/// Of checkpoints of that root, and of what was quarantined there; `removals` as of CleanupScope, `word`: of the items.
UnfinishedRemovals unfinished_removals(Disk& disk, const std::string& root, const std::set<std::string>& removals,
                                       const std::string& word);

}  // namespace mw
