#include "core/fleet/beat_times.h"

#include <doctest/doctest.h>

namespace mw::fleet {
namespace {

using Phase = Heartbeat::Phase;

/// Seconds at which a machine beats whose phase at a second is `phase_at`, looked at each second.
template <typename PhaseAt>
std::vector<int> beats(int seconds, const PhaseAt& phase_at) {
  BeatTimes times(Duration::seconds(60));
  std::vector<int> out;
  for (int second = 0; second < seconds; ++second) {
    const Duration now = Duration::seconds(second);
    if (times.wait(now, phase_at(second)) > Duration{}) continue;
    out.push_back(second);
    times.sent(now, phase_at(second));
  }
  return out;
}

TEST_CASE("a heartbeat comes each minute, and at once when the phase is another one") {
  CHECK(beats(200, [](int) { return Phase::kTraining; }) == std::vector<int>{0, 60, 120, 180});
  CHECK(beats(100, [](int at) { return at < 17 ? Phase::kStarting : Phase::kTraining; }) ==
        std::vector<int>{0, 17, 77});
  const auto stalls = [](int at) { return at < 100 || at >= 250 ? Phase::kTraining : Phase::kStalled; };
  CHECK(beats(300, stalls) == std::vector<int>{0, 60, 100, 160, 220, 250});
}

TEST_CASE("a phase that goes to and fro doubles the heartbeats at the most, and the last one is said in time") {
  const auto flaps = [](int at) { return at % 2 == 0 ? Phase::kTraining : Phase::kStalled; };
  CHECK(beats(600, flaps).size() <= 21);
  const auto twice = [](int at) { return at >= 10 && at < 20 ? Phase::kStalled : Phase::kTraining; };
  CHECK(beats(100, twice) == std::vector<int>{0, 10, 70});
}

}  // namespace
}  // namespace mw::fleet
