// What live processes have to do with a file or folder: asked before something is removed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/system.h"

namespace mw {

struct Use {
  int64_t pid = 0;  ///< 0: a socket of which the process is not known
  std::string how;  ///< "works in it", "has a file of it open", …
};

struct Uses {
  std::vector<Use> found;
  /// Every process's command line could be read, and its whole was. What other users' processes have open cannot be.
  bool complete = true;
};

/// The live processes of this machine, as far as they can be seen from here, that show `word` (a name that nothing else
/// has) in their command line, environment, working folder, open files or memory, and the local sockets that do.
Uses uses_of(System& system, std::string_view word);

/// A line of /proc/PID/maps or a link of /proc/PID/fd names a file that is still there.
struct Mapped {
  std::string path;
  uint64_t inode = 0;  ///< 0: a link does not have it
};
/// The files below `folder` that a process maps or has open. Errors as of System::read().
Result<std::vector<Mapped>> held_by(System& system, int64_t pid, const std::string& folder);

/// Which of the things in `folder` a live process other than `self` works in, or has open or maps, by their names: one
/// use of each. What other users' processes do cannot be seen.
std::map<std::string, Use> used_below(System& system, const std::string& folder, int64_t self);

/// Likewise, also those that such a process names in its command line, by whatever path, whole words or behind "=",
/// ":", "," or a quote in one: a server that has not opened its model yet, or has loaded it and would need it again to
/// start anew. Whatever a shell or midwatch's own command line names counts, too.
std::map<std::string, Use> used_or_named_below(System& system, const std::string& folder, int64_t self);

}  // namespace mw
