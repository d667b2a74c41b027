// In which order the files of a run are read.
#pragma once

#include <vector>

#include "platform/disk.h"
#include "read/discover.h"

namespace mw {

/// Puts files of which one was over when the other began into that order, whatever order they were given in: logs by
/// the clocks at their beginning and end, or, where neither has one, by the steps there, the files of one W&B run that
/// was resumed by its starts. Others stay where they are: files that were written at the same time, and those without a
/// clock.
void put_in_order(Disk& disk, std::vector<FoundFile>& files);

}  // namespace mw
