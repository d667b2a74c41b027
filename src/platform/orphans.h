// Processes that a process inherits: whose parents died below it (as PID 1, or as a subreaper), and which nobody else
// asks how they ended.
#pragma once

#include <map>

#include "platform/clock.h"
#include "platform/process.h"

namespace mw {

class Orphans {
 public:
  /// From now on this process inherits the orphans of its descendants, where the system lets it.
  Orphans(Processes& processes, Clock& clock);
  /// Reaps those that have been dead for some time. Not at once: whoever started one (a thread that waits for a
  /// program) comes first, and a keeper that took over from a killed one reads from the dead how they ended.
  void reap();

 private:
  static constexpr Duration kPatience = Duration::seconds(10);
  Processes& processes_;
  Clock& clock_;
  std::map<int64_t, Duration> dead_;  // pid -> when it was first seen so
};

}  // namespace mw
