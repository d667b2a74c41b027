// Who runs midwatch, for records that people read.
#pragma once

#include <string>

#include "platform/disk.h"

namespace mw {

/// "mira@node7", as far as it is known; "uid 1000@node7" where the user has no name.
std::string this_user(Disk& disk);

}  // namespace mw
