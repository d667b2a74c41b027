// Which files another process has open, by /proc/PID/fd.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace mw {

struct OpenFile {
  int number = -1;
  std::string target;    ///< a path, "pipe:[4711]", "socket:[4712]", "/dev/pts/3"
  bool regular = false;  ///< a file with content, which still has its name
  bool writes = false;   ///< it was opened to be written
};

/// By number. kNotFound: no such process; kDenied: it is another user's.
Result<std::vector<OpenFile>> open_files(int64_t pid);

/// Where it works; errors likewise.
Result<std::string> working_folder_of(int64_t pid);

}  // namespace mw
