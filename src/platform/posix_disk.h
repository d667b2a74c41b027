// The real disk behind the door.
#pragma once

#include <memory>

#include "platform/disk.h"

namespace mw {

/// Files by system calls; relative paths count from the working directory. Calls interrupted by signals are repeated.
std::unique_ptr<Disk> make_posix_disk();

}  // namespace mw
