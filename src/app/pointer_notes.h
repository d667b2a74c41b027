// What is wrong with the pointers beside a checkpoint, in the words of its own notes.
#pragma once

#include <string_view>

#include "api/requests.h"
#include "platform/disk.h"

namespace mw {

/// Trees that one run saves side by side, a folder for each step in all of them.
bool is_tree_name(std::string_view name);

/// Adds to its notes what the pointers in its folder name that is not there, is no checkpoint, is an older one, or is
/// written so that its trainer cannot read it; and that there is none where its framework needs one.
void note_pointers(Disk& disk, CheckpointsAnswer::Checkpoint& out);

}  // namespace mw
