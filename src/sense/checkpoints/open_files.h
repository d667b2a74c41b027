// What a process has open.
#pragma once

#include <functional>
#include <string>

#include "platform/system.h"

namespace mw {

/// Calls `visit` for each path that the process `pid` has open, with a question whether it is open to write, which
/// costs another call of the kernel. At most 4096 of one process, and its standard streams only where `streams` says
/// so: no library saves a checkpoint through those.
void for_each_open(System& system, const std::string& pid,
                   const std::function<void(const std::string& path, const std::function<bool()>& to_write)>& visit,
                   bool streams = false);

/// "process 12 (python3) has actor/data.pt open to write", for the first that has a file at or below `place` open to
/// write, as far as the kernel lets us see; "" for nobody. Logs do not count: they stay open as long as a run lasts.
std::string writer_of(System& system, const std::string& place);

}  // namespace mw
