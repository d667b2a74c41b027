// The exit status of a process that is not our child, whoever takes note of its end.
#pragma once

#include <optional>

#include "platform/process.h"

namespace mw {

class LastState {
 public:
  /// `id`: a process that is alive, or not reaped yet.
  explicit LastState(const ProcessId& id);
  ~LastState();
  LastState(const LastState&) = delete;
  LastState& operator=(const LastState&) = delete;

  /// Becomes readable when it ends; -1 on a kernel before 5.3.
  int file() const { return file_; }
  /// As wait(2) reports it, once the process has ended: from /proc until it is reaped, later from kernels since 6.15.
  /// Unset where it cannot be determined.
  std::optional<int> status() const;

 private:
  ProcessId id_;
  int file_ = -1;
};

}  // namespace mw
