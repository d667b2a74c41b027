// Wakes the loop when files change: inotify where the kernel reports that, time-outs where it does not (NFS, Lustre,
// FUSE).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace mw {

/// Hears of signals on a thread of its own, so that a loop which hangs in a system call can be ended all the same.
class SignalListener {
 public:
  struct Poll {
    int signal = 0;       ///< that came just now; 0: only time passed
    int stops = 0;        ///< SIGINT and SIGTERM that came so far
    Duration silent;      ///< since the loop last asked the watch for anything; 0 while it waits there
    bool ending = false;  ///< the loop is over (Watch::ending)
  };
  virtual ~SignalListener() = default;
  /// Called for each signal, and again after as long as it returned; unset: not before the next signal.
  virtual std::optional<Duration> poll(const Poll& now) = 0;
};

class Watch {
 public:
  enum class Woke {
    kChange,   ///< something was written
    kNames,    ///< a file came, went or was renamed; what was watched may have to be added again
    kTimeout,  ///< `longest` passed
    kStop      ///< the watch is asked to end
  };

  /// Also takes SIGINT and SIGTERM over while it lives: they make wait() return kStop instead of ending the process.
  /// SIGUSR1 and SIGUSR2 are heard by a listener only. kLimit when the process may open hardly any more files.
  static Result<std::unique_ptr<Watch>> make();
  virtual ~Watch() = default;
  /// Starts to watch a file or a folder (its entries, not deeper). Paths that cannot be watched are left to time-outs.
  virtual void add(const std::string& path) = 0;
  virtual Woke wait(Duration longest) = 0;
  /// Has the watch been asked to end? Does not wait; each request is reported once, here or by wait().
  virtual bool stop_came() { return false; }
  /// The signal of the first such request: SIGINT or SIGTERM; 0 while none came.
  virtual int stop_signal() const { return 0; }
  /// The loop is over: whatever is still done may take its time.
  virtual void ending() {}
  /// Who receives signals; nullptr: nobody. When it returns the former listener is not called any more.
  virtual void listen(SignalListener*) {}
};

}  // namespace mw
