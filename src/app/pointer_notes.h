// What is wrong with the pointers beside a checkpoint, in the words of its own notes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/requests.h"
#include "platform/disk.h"
#include "sense/checkpoints/find.h"

namespace mw {

/// Trees that one run saves side by side, a folder for each step in all of them.
bool is_tree_name(std::string_view name);

/// What one folder holds besides a checkpoint in it.
struct CheckpointNeighbours {
  std::vector<FoundCheckpoint> checkpoints;  ///< folders that are named by a step, by step
  std::vector<CheckpointPointer> pointers;
};
CheckpointNeighbours neighbours_in(Disk& disk, const std::string& folder);

/// Adds to its notes what the pointers in its folder name that is not there, is no checkpoint, is an older one, or is
/// written so that its trainer cannot read it; and that there is none where its framework needs one.
void note_pointers(Disk& disk, const CheckpointNeighbours& beside, CheckpointsAnswer::Checkpoint& out);

/// The tree beside this one that holds the other role of each step, which its trainer resumes by a pointer of its own:
/// "_critic" of "_actor". "" where there is none.
std::string other_role_of(std::string_view tree);
/// What lacks in a checkpoint whose step has no other role.
constexpr std::string_view kOtherRole = "the other role";
/// A step that only one of the two trees has is none to resume from: each role would go on from a step of its own. Says
/// so of the newest. Not while the other may still be saved, nor of a run that went on without a critic.
void note_other_role(const CheckpointNeighbours& own, const CheckpointNeighbours& other, Time now,
                     CheckpointsAnswer::Checkpoint& out);

}  // namespace mw
