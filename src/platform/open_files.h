// Which files another process has open, by /proc/PID/fd.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw {

struct OpenFile {
  int number = -1;
  /// A path, "pipe:[4711]", "socket:[4712]", "/dev/pts/3". Of a regular one that is written, a path that leads to it
  /// from here: in a container's own file system that is one below /proc/PID/root.
  std::string target;
  bool regular = false;  ///< a file with content, which still has its name, and can be reached by one if it is written
  bool writes = false;   ///< it was opened to be written
  bool appends = false;  ///< and what stood in it was kept (O_APPEND)
  int64_t size = 0;      ///< bytes, of a regular one
  Time born;             ///< when a regular one was made; unknown where the file system does not say
};

/// By number. kNotFound: no such process; kDenied: it is another user's.
Result<std::vector<OpenFile>> open_files(int64_t pid);

/// Where it works, by a path that leads there from here; errors likewise.
Result<std::string> working_folder_of(int64_t pid);

}  // namespace mw
