// A rented machine that is taken away before its run has begun: while it waits for its turn, or receives its
// checkpoint.
#pragma once

#include <functional>
#include <memory>

#include "act/fleet/beat.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

class EarlyEnd {
 public:
  /// On a machine that was rented it takes SIGTERM over while it lives: that is noted on this machine, its store hears
  /// *preempted* (tried for a moment, as most clouds give 5 s), and the process ends by the signal. SIGINT ends it at
  /// once. Where nobody rented the machine it does nothing. `end`: in place of that end, in tests.
  explicit EarlyEnd(std::function<void(int signal)> end = nullptr);
  ~EarlyEnd();
  EarlyEnd(const EarlyEnd&) = delete;
  EarlyEnd& operator=(const EarlyEnd&) = delete;

  /// As send_beat(), from any thread, also when this is gone. After SIGTERM nothing is sent: it would be written over
  /// the last one.
  using Send = std::function<Result<fleet::Standing>(Disk&, const fleet::MachineIdentity&, const fleet::Heartbeat&)>;
  Send send() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace mw
