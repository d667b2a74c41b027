// Heartbeats of a rented machine while it receives the checkpoint that it is to begin from, so that a long transfer
// does not look like a dead machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "app/early_end.h"
#include "base/time.h"
#include "platform/disk.h"

namespace mw {

class ReceivingBeat {
 public:
  /// Of a machine that nobody rented it does nothing. It sends from a thread of its own until it is destroyed; what the
  /// store does not take is left out.
  explicit ReceivingBeat(EarlyEnd::Send send);
  ~ReceivingBeat();
  ReceivingBeat(const ReceivingBeat&) = delete;
  ReceivingBeat& operator=(const ReceivingBeat&) = delete;

  /// Bytes done and in all, as they come; from any thread.
  void moved(int64_t bytes, int64_t total);
  /// Time in which bytes came.
  Duration receiving() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace mw
