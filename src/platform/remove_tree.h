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

/// Removes `below` (one or more names, "a/b") of the folder `root`: a file, a link itself, or a folder with all that is
/// in it. Nothing else than what is on the file system of `root` is touched. kNotFound: it is not there (any more).
/// kInvalid: `root` is not absolute or leads through a link; `below` is empty, absolute, or has "." or ".." in it.
/// After another error a part of it may be gone; done again, it goes on.
Result<Removed> remove_tree(const std::string& root, const std::string& below);

}  // namespace mw
