// One run at a time in a folder of checkpoints: a start-up script that runs twice begins one trainer.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/time.h"
#include "core/supervise/run_spec.h"
#include "platform/disk.h"
#include "platform/lock.h"
#include "platform/process.h"

namespace mw {

struct StartFence {
  std::unique_ptr<Lock> lock;  ///< while it is held, every other start there is refused; nullptr: no lock can be kept
  std::string by;              ///< who has the folder already, one sentence; "": nobody, and it is ours now
  std::string hint;            ///< what to do then
};

/// Takes the folder of checkpoints (or, where that is not known, the store) `what` for this process. It is somebody
/// else's while another process of this user on this machine holds it (whatever $MIDWATCH_HOME either has), and while a
/// run that is recorded below `home` (as given), or where the last holder recorded, declared it and lives. What died
/// holds nobody up.
StartFence fence_start(Disk& disk, Locks& locks, Processes& processes, Time now, const std::string& home,
                       const std::string& what);

/// Another run than the one in `run_folder`, recorded below `home`, that lives and declares a folder that `spec`
/// declares, too: its name, and that folder. Empty: none.
std::pair<std::string, std::string> live_run_beside(Disk& disk, Processes& processes, const std::string& home,
                                                    const std::string& run_folder, const RunSpec& spec);

/// `path` with the links in it followed, also where its end is not there yet.
std::string real_path_to_be(Disk& disk, const std::string& path);

/// Does that run keep its checkpoints in `root`, a path whose links were followed?
bool declares(Disk& disk, const RunSpec& spec, const std::string& root);

}  // namespace mw
