// A limit of bytes a second on what this process sends: one for all of its threads, receivers and checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/time.h"

namespace mw {

class SendLimit {
 public:
  /// What may go at once after a rest: a receiver sees no burst that is worth the name.
  static constexpr Duration kBurst = Duration::millis(100);

  /// How much of `wanted` bytes to send at a time, so that they go evenly.
  static size_t piece(size_t wanted, int64_t rate);
  /// Until when to wait before `bytes` go, by the clock of `now`.
  Duration book(Duration now, size_t bytes, int64_t rate);

 private:
  std::mutex mutex_;
  Duration booked_until_;  // all that was booked has gone by then
};

/// Returns when `bytes` more may go, by the limit of this process.
void wait_to_send(size_t bytes, int64_t rate);

}  // namespace mw
