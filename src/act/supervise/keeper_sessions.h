// The keepers that a run ever had, and which of them are through: each attempt's, and each life's of a component that
// midwatch starts itself.
#pragma once

#include <string>
#include <vector>

#include "act/keeper/record.h"
#include "platform/disk.h"

namespace mw {

struct KeeperSession {
  std::string place;  ///< the keeper's folder within the run's: "attempts/3", "components/engine/1"
  Kept kept;
  bool over = false;  ///< nothing that it held lives any more
};

/// In no particular order, but attempts and lives by their number. A folder whose record cannot be read counts as not
/// over, and one whose keeper died with its machine only when another keeper has looked after it.
std::vector<KeeperSession> keeper_sessions(Disk& disk, const std::string& run_folder);

}  // namespace mw
