#include "ui/view/cycle_place.h"

#include <doctest/doctest.h>

#include "core/state.h"

namespace mw {
namespace {

constexpr double kBegun = 1'700'000'000;

/// 100 steps of 10 seconds each; `clock`: the first line has one.
State run(bool clock, bool bar) {
  State state;
  uint64_t line = 0;
  const auto say = [&](auto body, Time at = {}) { fold(state, Event{at, {0, ++line}, std::move(body)}); };
  say(event::SourceOpened{0, "train.log", "text", 100});
  say(event::ClockLacks{}, clock ? Time::from_seconds(kBegun) : Time{});
  say(event::Planned{100});
  if (bar) say(event::Progressed{"", 0, 100, 0});
  for (int64_t step = 1; step <= 100; ++step) {
    if (bar) say(event::Progressed{"", step, 100, 10.0 * static_cast<double>(step)});
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
  }
  return state;
}

Cycle from(double seconds) { return Cycle{kNoStep, Time::from_seconds(kBegun + seconds)}; }

TEST_CASE("a cycle of records without a clock begins where the bar was by its time") {
  const State state = run(true, true);
  const auto middle = placed(state, from(505));
  REQUIRE(middle.ok());
  CHECK(middle->from_step == 51);
  const auto behind = placed(state, from(2000));
  REQUIRE(behind.ok());
  CHECK(behind->from_step == 101);
  const auto before = placed(state, from(-100));
  REQUIRE(before.ok());
  CHECK(before->from_step == kNoStep);
}

TEST_CASE("where no clock and no bar shows when a step was done, no cycle begins at a time") {
  CHECK(!placed(run(false, true), from(500)).ok());
  CHECK(!placed(run(true, false), from(500)).ok());
  CHECK(placed(run(false, false), Cycle{50, {}}).ok());
}

TEST_CASE("of two attempts, each under a bar, a cycle begins where the one was that went on then") {
  State state;
  uint64_t line = 0;
  const auto say = [&](auto body, Time at = {}) { fold(state, Event{at, {0, ++line}, std::move(body)}); };
  say(event::SourceOpened{0, "train.log", "text", 100});
  say(event::ClockLacks{}, Time::from_seconds(kBegun));
  say(event::Planned{100});
  const auto steps = [&](int64_t first, int64_t last) {
    say(event::Progressed{"", first - 1, 100, 0});
    for (int64_t step = first; step <= last; ++step) {
      say(event::Progressed{"", step, 100, 10.0 * static_cast<double>(step - first + 1)});
      say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
    }
  };
  steps(1, 60);
  say(event::Matched{"second-start", "start"}, Time::from_seconds(kBegun + 700));
  steps(51, 100);
  REQUIRE(state.attempts.size() == 2);
  const auto first = placed(state, from(305)), second = placed(state, from(805)), late = placed(state, from(595));
  REQUIRE(first.ok());
  CHECK(first->from_step == 31);
  REQUIRE(second.ok());
  CHECK(second->from_step >= 61);  // about: the bar's first two showings were of steps that had been done before
  CHECK(second->from_step <= 63);
  REQUIRE(late.ok());
  CHECK(late->from_step == 51);  // which the second attempt did again
}

}  // namespace
}  // namespace mw
