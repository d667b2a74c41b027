// What an earlier save by another number of ranks left in the same folder. verl, SkyRL, DeepSpeed and Megatron do not
// empty a folder before they save into it, and each rank opens files by its own number and that of all ranks: so
// nothing reads what is left.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "platform/disk.h"

namespace mw {

struct TreeFile;

struct OtherWorlds {
  std::set<std::string, std::less<>> files;  ///< paths within the checkpoint
  std::vector<std::string> notes;            ///< one for each folder that has some
};

/// Of the ranks' files of FSDP, DeepSpeed and Megatron (mp_rank_XX), in each folder those that the latest save there
/// does not count among its ranks, where all of these were written a minute and more before any of its own; of FSDP's
/// also where they were not written later, and the settings beside them name a world size of which all files are there.
/// Where the times do not say which save came last there are none: a save that broke off over an older one has files of
/// two, too. Of DeepSpeed's and Megatron's the model's file of one rank is read, for how many ranks it says.
OtherWorlds other_worlds_in(Disk& disk, const std::string& root, const std::vector<TreeFile>& files);

}  // namespace mw
