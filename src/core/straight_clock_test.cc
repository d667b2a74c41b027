#include "core/straight_clock.h"

#include <doctest/doctest.h>

#include <vector>

namespace mw {
namespace {

constexpr int64_t kMinute = 60, kHour = 3600, kBegin = 1'000'000;

/// Seconds since the first line, of lines whose clocks are these.
std::vector<int64_t> straight(const std::vector<int64_t>& clocks, StraightClock& clock) {
  std::vector<int64_t> times;
  uint64_t line = 0;
  for (const int64_t at : clocks) {
    const Time time = clock.straight(++line, Time::from_seconds(static_cast<double>(kBegin + at)));
    times.push_back(time.ns / 1'000'000'000 - kBegin);
  }
  return times;
}

std::vector<int64_t> straight(const std::vector<int64_t>& clocks) {
  StraightClock clock;
  return straight(clocks, clock);
}

}  // namespace

TEST_CASE("a clock that is set back goes on where it stood") {
  StraightClock clock;
  const std::vector<int64_t> an_hour = {0, kMinute, 2 * kMinute, 3 * kMinute - kHour, 4 * kMinute - kHour};
  CHECK(straight(an_hour, clock) == std::vector<int64_t>{0, kMinute, 2 * kMinute, 2 * kMinute, 3 * kMinute});
  CHECK(clock.set_back() == Duration::seconds(static_cast<double>(kHour - kMinute)));
  CHECK(clock.first() == 4);
  const std::vector<int64_t> days = {0, kMinute, 2 * kMinute, -72 * kHour, kMinute - 72 * kHour};
  CHECK(straight(days) == std::vector<int64_t>{0, kMinute, 2 * kMinute, 2 * kMinute, 3 * kMinute});
}

TEST_CASE("lines that come a little late, and a long pause, set no clock back") {
  const std::vector<int64_t> late = {0, kMinute, 2 * kMinute, kMinute, 3 * kMinute};
  CHECK(straight(late) == late);
  const std::vector<int64_t> pause = {0, kMinute, 2 * kMinute, 9 * kHour, 9 * kHour + kMinute};
  CHECK(straight(pause) == pause);
}

TEST_CASE("one line that quotes a time of the past or of the future sets no clock back") {
  const std::vector<int64_t> past = {0, kMinute, 2 * kMinute, -5 * kHour, 20 * kMinute, 40 * kMinute};
  const std::vector<int64_t> times = straight(past);
  CHECK(times[4] == 20 * kMinute);
  CHECK(times[5] == 40 * kMinute);
  const std::vector<int64_t> future = {0, kMinute, 2 * kMinute, 50 * kHour, 3 * kMinute, 4 * kMinute};
  CHECK(straight(future) == future);
}

TEST_CASE("two processes in two zones that write into one file are at the same time") {
  std::vector<int64_t> clocks;
  for (int64_t i = 0; i < 20; ++i) clocks.push_back(i * kMinute - (i % 2 == 0 || i < 4 ? 0 : 8 * kHour));
  const std::vector<int64_t> times = straight(clocks);
  for (size_t i = 0; i < times.size(); ++i) {
    CAPTURE(i);
    if (times[i] < 0) continue;  // given up: as it is written
    CHECK(times[i] <= static_cast<int64_t>(i) * kMinute);
  }
  CHECK(times[18] == 18 * kMinute);
}

}  // namespace mw
