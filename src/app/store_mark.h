// What this user's midwatch remembers of stores in which it saw a fleet's run: by it a share that is not mounted can be
// distinguished from a run that never was.
#pragma once

#include <string>

#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// Remembers that the run `name` was seen at `place` (a folder, or s3://…). A file in the user's own home; best effort.
void remember_store(Disk& disk, const std::string& place, const std::string& name);
/// The name of the run that was seen there last; "": none.
std::string remembered_run(Disk& disk, const std::string& place);

/// Does the folder of a store look as on a share that is not mounted: it is not there, and what should hold it is empty
/// or missing, and no mount point? A sentence that says so; "": it does not, or the place is no folder.
std::string looks_unmounted(Disk& disk, const std::string& place);

/// Why the store knows no run at `place`, with what to do.
Error no_run_in_store(Disk& disk, const std::string& place);

/// Of a place that is only read: a folder that does not exist, or is none, is an error, not an empty store. Of a bucket
/// the store itself says so.
Result<void> must_be_there(Disk& disk, const std::string& place);

}  // namespace mw
