// Folders of checkpoints that lie below the ones that a person declared: verl, given `checkpoints`, saves in
// `checkpoints/PROJECT/EXPERIMENT`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/checkpoint_layout.h"
#include "platform/disk.h"
#include "sense/checkpoints/ownership.h"

namespace mw {

/// `folder` as it is called below one of the `declared` ones, which a log may name by another path; "": it is none of
/// what lies below them, or a link leads to it from there. kIo when the disk does not answer.
Result<std::string> below_declared(Disk& disk, const std::vector<std::string>& declared, const std::string& folder);

/// Those below declared folders in which this run keeps checkpoints, by its own files and its command; where they name
/// none, by what its processes wrote. Where its trainer keeps a pointer only folders with one (exports have none). kIo
/// when the disk does not answer.
Result<std::vector<std::string>> own_roots_below(Disk& disk, const Ownership& of, const CheckpointLayout& layout);

}  // namespace mw
