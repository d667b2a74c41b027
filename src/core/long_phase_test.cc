// What is announced and may say nothing for long: an evaluation, a save.
#include "core/long_phase.h"

#include <doctest/doctest.h>

#include "core/detect/support/pause.h"

namespace mw {
namespace {

Time at(double seconds) { return Time::from_seconds(1'700'000'000 + seconds); }

bool announced(const State& state, double seconds) { return detect::announced_phase(state, 0, at(seconds)) != nullptr; }

TEST_CASE("an evaluation lasts until the second step after the one before it") {
  State state;
  begin_phase(state, "eval", {9, {}, {}, 0}, at(100));
  CHECK(state.current_phase == "eval");
  CHECK_FALSE(announced(state, 50));
  CHECK(announced(state, 100));
  CHECK(announced(state, 5000));
  CHECK(detect::announced_phase(state, 1, at(5000)) == nullptr);  // of another attempt
  trained_on(state, 0, 10, at(101));                              // its record was about to be written
  CHECK(announced(state, 5000));
  trained_on(state, 0, 11, at(6000));
  CHECK(state.current_phase.empty());
  CHECK(announced(state, 5000));
  CHECK_FALSE(announced(state, 6000));
  CHECK_FALSE(announced(state, 5980));  // what ends with the silence's first minute explains none
}

TEST_CASE("phases of a step are none of those, and end one") {
  State state;
  begin_phase(state, "rollout", {9, {}, {}, 0}, at(100));
  CHECK(state.long_phases.empty());
  begin_phase(state, "eval", {9, {}, {}, 0}, at(200));
  begin_phase(state, "rollout", {9, {}, {}, 0}, at(900));
  CHECK_FALSE(announced(state, 1000));
  CHECK(state.current_phase == "rollout");
  trained_on(state, 0, 30, at(1000));
  CHECK(state.current_phase == "rollout");
}

TEST_CASE("a save lasts until it is complete, and one whose time nobody knows is none") {
  State state;
  begin_save(state, false, {20, {}, {}, 0}, at(100));
  CHECK(announced(state, 900));
  begin_save(state, true, {20, {}, {}, 0}, at(950));
  CHECK(announced(state, 800));
  CHECK_FALSE(announced(state, 960));
  begin_save(state, false, {30, {}, {}, 0}, {});
  CHECK(state.long_phases.size() == 1);
  for (int i = 0; i < 1000; ++i) begin_save(state, false, {40 + i, {}, {}, 0}, at(1000 + i));
  CHECK(state.long_phases.size() <= State::kLongPhases);
}

}  // namespace
}  // namespace mw
