#include <ctime>

#include "platform/clock.h"

namespace mw {
namespace {

int64_t nanoseconds(clockid_t clock) {
  timespec moment{};
  ::clock_gettime(clock, &moment);
  return static_cast<int64_t>(moment.tv_sec) * 1'000'000'000 + moment.tv_nsec;
}

class PosixClock final : public Clock {
 public:
  Time now() override { return {nanoseconds(CLOCK_REALTIME)}; }
  Duration steady() override { return {nanoseconds(CLOCK_MONOTONIC)}; }
};

}  // namespace

std::unique_ptr<Clock> make_posix_clock() { return std::make_unique<PosixClock>(); }

Duration thread_cpu_time() { return {nanoseconds(CLOCK_THREAD_CPUTIME_ID)}; }

}  // namespace mw
