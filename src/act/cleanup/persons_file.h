// A file that a person put into a checkpoint's folder: a note, an analysis. No rule deletes what nobody could write
// anew.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "platform/disk.h"

namespace mw {

/// The path, within the checkpoint `folder` of `step`, of a file that came minutes after its weights were written,
/// under a name that is none of a framework's, and that none of `others` (folders and steps of the run's) holds; "":
/// there is none. Empty and hidden files are markers of programs. What a trainer or an evaluation writes later lies in
/// more than one, and is no such file.
std::string persons_file(Disk& disk, const std::string& folder, int64_t step,
                         const std::vector<std::pair<std::string, int64_t>>& others);

}  // namespace mw
