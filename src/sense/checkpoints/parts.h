// What belongs to one step of a training and lies in several folders: the roles of OpenRLHF (`_actor/global_stepN`,
// `_critic/global_stepN`), and slime's place in the data (`rollout/global_dataset_state_dict_N.pt`). A resume takes all
// of it, so one alone is none to begin from elsewhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/disk.h"

namespace mw {

struct CheckpointParts {
  std::string path;  ///< of the one that stands for the step: where it is several roles, the actor's
  std::string own;   ///< the same below `root`; "": there are no others, and `path` is what was asked for
  std::string root;  ///< the folder that holds all of them
  std::vector<std::string> beside;  ///< the others below `root`: folders and files
  std::string missing;  ///< one of them that is not there, though other steps have theirs; below `root`; "": none
};

/// Of a folder that holds one role's checkpoints, that of the other role; "": it is none.
std::string other_role_of(const std::string& root);
/// A resume takes both roles: whoever declares the folder of one declares the other's, too.
void add_other_roles(std::vector<std::string>& declared);
/// After so many saves of the other role since the last in `root` the run trains that role no more. Actors are always
/// trained.
bool is_left_behind(const std::string& root, int64_t later_saves);
/// The same by the steps of both, ascending: of `root` and of the other role.
bool is_left_behind(const std::string& root, const std::vector<int64_t>& own, const std::vector<int64_t>& others);
/// Where the roles of a training keep theirs, which was given `folder` for all of them.
std::vector<std::string> role_folders(const std::string& folder);

CheckpointParts parts_of(Disk& disk, const std::string& folder);

}  // namespace mw
