// The door to time.
#pragma once

#include <memory>

#include "base/time.h"

namespace mw {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Wall-clock time, UTC. It may jump when somebody sets the clock.
  virtual Time now() = 0;
  /// Time since an arbitrary start; never goes back. For deadlines and durations.
  virtual Duration steady() = 0;
};

std::unique_ptr<Clock> make_posix_clock();

/// What the calling thread has cost a core since it began. Waiting, for the disk or for a core, is no cost.
Duration thread_cpu_time();

/// A clock that advances only when a test advances it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Time start = {1'700'000'000'000'000'000}) : now_(start) {}
  Time now() override { return now_; }
  Duration steady() override { return steady_; }
  void pass(Duration time) {
    now_ = now_ + time;
    steady_.ns += time.ns;
  }
  /// Somebody sets the clock; steady() does not notice.
  void set(Time now) { now_ = now; }

 private:
  Time now_;
  Duration steady_;
};

}  // namespace mw
