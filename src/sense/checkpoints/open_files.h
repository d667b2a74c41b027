// What a process has open.
#pragma once

#include <functional>
#include <string>

#include "platform/system.h"

namespace mw {

/// Calls `visit` for each path that the process `pid` has open, with a question whether it is open to write, which
/// costs another call of the kernel. At most 4096 of one process.
void for_each_open(System& system, const std::string& pid,
                   const std::function<void(const std::string& path, const std::function<bool()>& to_write)>& visit);

}  // namespace mw
