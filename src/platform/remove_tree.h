// Deletes one thing below a folder in a way that no link can lead anywhere else: every folder on the way is opened by
// its name in the one before, and a link among them is an error.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace mw {

struct Removed {
  int64_t bytes = 0;     ///< of disk that it took; a file with a second name frees nothing
  uint64_t entries = 0;  ///< files, links and folders
};

/// What exactly is meant, so that nothing else that has its name by then is removed in its place.
struct Identity {
  uint64_t device = 0, inode = 0;  ///< inode 0: not known, whatever has the name
  int64_t changed_ns = 0;          ///< of a file's content, since 1970-01-01 UTC; 0: whenever
  bool unheld = false;             ///< a file, and only while nobody has it open or mapped
};

/// Removes `below` (one or more names, "a/b") of the folder `root`: a file, a link itself, or a folder with all that is
/// in it. Nothing else than what is on the file system of `root` is touched. kNotFound: it is not there (any more).
/// kInvalid: `root` is not absolute or leads through a link; `below` is empty, absolute, or has "." or ".." in it.
/// After another error a part of it may be gone; done again, it goes on.
/// kInvalid too: `only` is given, and something else has that name now, or somebody holds it.
Result<Removed> remove_tree(const std::string& root, const std::string& below, const Identity* only = nullptr);

/// Whether nobody has the file `name` of the folder `root` open or mapped, in whatever container. The kernel's own
/// count says so: it grants a write lease (fcntl(2), F_SETLEASE) on such a file only, and only to its owner. False also
/// where that is unknown: Linux before 5.3 counts in-memory files as held always, some file systems have no leases.
bool nobody_holds(const std::string& root, const std::string& name, const Identity& only);

}  // namespace mw
