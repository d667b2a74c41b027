// A command between fork and exec: the process exists, and waits until its keeper has recorded its pid. When the keeper
// dies before that, the process exits without executing the command.
#pragma once

#include <sys/types.h>

#include <string>

#include "act/keeper/launch.h"
#include "base/result.h"

namespace mw {

/// Ignores the signals that must not end a keeper. It does not forward them: to end the command, signal the command.
void ignore_signals();

/// Sets close-on-exec on all open files but the standard three, inherited ones too: a lock or a pipe that a trainer
/// kept open for days would block others. Async-signal-safe.
void shut_files_at_exec();

class HeldBack {
 public:
  /// Forks the process in the keeper's folder, which is the working directory. `pipe` becomes its stdout and stderr.
  /// `launch` must outlive the result.
  static Result<HeldBack> fork(const Launch& launch, int pipe);
  HeldBack(HeldBack&& other) noexcept;
  HeldBack& operator=(HeldBack&&) = delete;
  HeldBack(const HeldBack&) = delete;
  /// Ends the process if it was not released.
  ~HeldBack();

  pid_t pid() const { return pid_; }
  /// Lets the process execute the command: it renames kHeldBackFile to kWentFile, then calls exec. An
  /// error means that the command was not executed.
  Result<void> release();

 private:
  HeldBack(const Launch& launch, pid_t pid, int gate, int problem)
      : launch_(&launch), pid_(pid), gate_(gate), problem_(problem) {}

  const Launch* launch_;
  pid_t pid_;
  int gate_, problem_;
};

}  // namespace mw
