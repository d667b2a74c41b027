// Which recorded run keeps its checkpoints in a folder that a person names.
#pragma once

#include <string>
#include <vector>

#include "api/requests.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// Of the runs in `run_folders`, the folder of the one that declared `path`, a folder around it, or one below it to
/// hold its checkpoints. kInvalid, with what to type instead: none did, or several did. kNotFound: `path` is no folder.
Result<std::string> run_of_checkpoints(Disk& disk, const std::vector<std::string>& run_folders,
                                       const std::string& path);

/// The request with the run that declared the folder, where that is how `request.run` names it; else as it is. Only of
/// a request with rules of retention: `checkpoint prune`. A folder comes before a beginning of a name, which may be any
/// run's. Errors as of run_of_checkpoints().
Result<CleanupRequest> with_run_of_folder(Disk& disk, CleanupRequest request);

/// Is `path` the folder `folder`, or does it lie below it? Both as real_path() gives them.
bool is_within(const std::string& path, const std::string& folder);

}  // namespace mw
