#include "core/detect/support/rhythm.h"

#include <doctest/doctest.h>

#include "core/attempts.h"

namespace mw::detect {
namespace {

Time at(double seconds) { return Time::from_seconds(1'700'000'000.0 + seconds); }

/// Steps 1..10 of a minute each; an hour's outage; steps 11..20.
State restarted(bool known) {
  State state;
  state.attempts.resize(known ? 2 : 1);
  state.attempts[0].began.at = at(0);
  for (int step = 1; step <= 10; ++step) add_anchor(state, at(60.0 * step), step);
  if (known) {
    state.attempts[1].began.at = at(600 + 3500);
    state.attempts[1].began.attempt = 1;
  }
  for (int step = 11; step <= 20; ++step) add_anchor(state, at(600 + 3600 + 60.0 * (step - 10)), step);
  return state;
}

}  // namespace

TEST_CASE("what lies between two attempts is no step") {
  const State state = restarted(true);
  const Rhythm rhythm = rhythm_of(state, at(1e6), 3);
  CHECK(rhythm.usual == doctest::Approx(60));
  CHECK(rhythm.longest == doctest::Approx(60));
  CHECK(rhythm.gaps == 18);
  CHECK(restarted_between(state, at(600), at(4260)));
  CHECK_FALSE(restarted_between(state, at(4260), at(4320)));
}

TEST_CASE("an hour between two steps of one attempt is its longest") {
  CHECK(rhythm_of(restarted(false), at(1e6), 3).longest == doctest::Approx(3660));
}

}  // namespace mw::detect
