// Wakes the loop when files change: inotify where the kernel tells, time-outs where it does not (NFS, Lustre, FUSE).
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace mw {

class Watch {
 public:
  enum class Woke {
    kChange,   ///< something was written
    kNames,    ///< a file came, went or was renamed; what was watched may have to be added again
    kTimeout,  ///< `longest` passed
    kStop      ///< the watch is asked to end
  };

  /// Also takes SIGINT and SIGTERM over from here on: they make wait() return kStop instead of ending the process.
  static Result<std::unique_ptr<Watch>> make();
  virtual ~Watch() = default;
  /// Starts to watch a file or a folder (its entries, not deeper). Paths that cannot be watched are left to time-outs.
  virtual void add(const std::string& path) = 0;
  virtual Woke wait(Duration longest) = 0;
};

}  // namespace mw
