// A file that a person put into a checkpoint's folder: a note, an analysis. No rule deletes what nobody could write
// anew.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "platform/disk.h"

namespace mw {

/// The path, within the checkpoint `folder` of `step`, of a file that was written minutes after its weights or an
/// hour before them, under a name that is none of a framework's, and that fewer than half of `others` (folders and
/// steps of the run's) hold; "": there is none. Of notes (.md, .ipynb, …) it does not matter how many hold one. Empty
/// and hidden files are markers of programs. What a trainer or an evaluation writes later lies in most, and is no such
/// file.
std::string persons_file(Disk& disk, const std::string& folder, int64_t step,
                         const std::vector<std::pair<std::string, int64_t>>& others);

}  // namespace mw
