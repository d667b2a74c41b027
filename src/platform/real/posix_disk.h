// The real disk behind the door.
#pragma once

#include <memory>
#include <string>

#include "platform/disk.h"

namespace mw {

/// Files by system calls; relative paths count from the working directory. Calls interrupted by signals are repeated.
std::unique_ptr<Disk> make_posix_disk();

/// `path` from the root on; a relative one counts from the working directory, and "" is that one.
std::string absolute_path(const std::string& path);

}  // namespace mw
