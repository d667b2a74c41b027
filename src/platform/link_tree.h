// A second name for every file of a folder, so that they stay when somebody deletes the folder.
#pragma once

#include <string>

#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// Makes `to`, which is not there, with hard links to all files below `from`; links to files become links to what they
/// lead to. No byte is copied. kUnsupported: the file system, or its rules, do not let us; of `to` a part may be there.
Result<void> link_tree(Disk& disk, const std::string& from, const std::string& to);

}  // namespace mw
