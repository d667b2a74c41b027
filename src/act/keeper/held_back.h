// A command between fork and exec: it is there, and does nothing before its keeper has written down who it is. When the
// keeper dies before that, it ends without having begun.
#pragma once

#include <sys/types.h>

#include <string>

#include "act/keeper/launch.h"
#include "base/result.h"

namespace mw {

/// Signals that a keeper neither dies of nor passes on: whoever wants the command to end tells the command.
void ignore_signals();

/// What this process and whoever started it have open is not the next program's business: a lock or a pipe that a
/// trainer holds for days hangs others. Async-signal-safe.
void shut_files_at_exec();

class HeldBack {
 public:
  /// Forks it, in the keeper's folder, which is the working directory. `pipe` becomes its stdout and stderr. `launch`
  /// outlives it.
  static Result<HeldBack> fork(const Launch& launch, int pipe);
  HeldBack(HeldBack&& other) noexcept;
  HeldBack& operator=(HeldBack&&) = delete;
  HeldBack(const HeldBack&) = delete;
  /// It ends, if it was not let go.
  ~HeldBack();

  pid_t pid() const { return pid_; }
  /// It becomes the command: kHeldBackFile becomes kWentFile, then the program begins. An error: it did not.
  Result<void> let_go();

 private:
  HeldBack(const Launch& launch, pid_t pid, int gate, int problem)
      : launch_(&launch), pid_(pid), gate_(gate), problem_(problem) {}

  const Launch* launch_;
  pid_t pid_;
  int gate_, problem_;
};

}  // namespace mw
