#include "core/zone_by_steps.h"

#include <doctest/doctest.h>

namespace mw {
namespace {

constexpr Time at(int64_t minute) { return {(1'767'000'000 + 60 * minute) * 1'000'000'000}; }

void steps(State& state, uint32_t source, int64_t minutes_off, double scale, bool lacks_zone, int64_t seconds = 0) {
  uint64_t line = 0;
  if (lacks_zone) fold(state, {{}, {source, 0}, event::ClockLacks{true, false}});
  for (int64_t i = 1; i <= 20; ++i) {
    const double value = scale * (0.31 + 0.017 * static_cast<double>(i));
    fold(state, {at(i + minutes_off) + Duration::seconds(static_cast<double>(seconds)),
                 {source, ++line},
                 event::Measured{i, false, {{"reward.mean", "reward", value}}}});
  }
}

TEST_CASE("the same figures at the same steps show by how much a clock without a zone differs") {
  for (const int64_t hours : {-8, -5, 1, 9}) {
    CAPTURE(hours);
    State state;
    steps(state, 0, 0, 1, false);
    steps(state, 1, 60 * hours, 1, true, 20);
    const auto east = east_by_steps(state);
    REQUIRE(east);
    CHECK(east->seconds() == doctest::Approx(3600.0 * static_cast<double>(hours)));
  }
}

TEST_CASE("what is another run's, the same time, or no zone shows nothing") {
  State other, same, odd;
  steps(other, 0, 0, 1, false);
  steps(other, 1, -300, 1.3, true);
  CHECK(!east_by_steps(other));
  steps(same, 0, 0, 1, false);
  steps(same, 1, 0, 1, true, 20);
  CHECK(!east_by_steps(same));
  steps(odd, 0, 0, 1, false);
  steps(odd, 1, -307, 1, true);
  CHECK(!east_by_steps(odd));
}

}  // namespace
}  // namespace mw
