#include "ui/view/rollout_times.h"

#include <doctest/doctest.h>

#include "ui/testing/fake_run.h"

namespace mw {
namespace {

/// A step of a run that says where its slowest rollout spent its time; seconds.
void say_step(FakeRun& run, int64_t step, double slowest_engine, double slowest_tools) {
  run.say(event::Measured{step,
                          false,
                          {{"time.step", "time/step", 100},
                           {"time.rollout", "time/rollout", 70},
                           {"rollout.generation", "rollout/engine", 18},
                           {"rollout.tools", "rollout/tools", 2},
                           {"rollout.tools_max", "rollout/tools_max", 40},
                           {"slowest.generation", "slowest/engine", slowest_engine},
                           {"slowest.tools", "slowest/tools", slowest_tools},
                           {"slowest.length", "slowest/length", 3000},
                           {"response.length", "length", 500}}});
}

TEST_CASE("a step waits for its slowest rollout, and what held that one is said") {
  FakeRun run;
  for (int64_t step = 1; step <= 8; ++step) say_step(run, step, 60, 4);
  for (int64_t step = 9; step <= 10; ++step) say_step(run, step, 24, 40);
  const RolloutTimes times = rollout_times(run.state, {});
  CHECK(times.whole.mean == doctest::Approx(20));
  CHECK(times.whole.slowest == doctest::Approx(64));
  CHECK(times.waited == doctest::Approx(44));
  CHECK(times.tools.slowest_of_all == doctest::Approx(40));
  CHECK(times.split == 10);
  CHECK(times.held_by_tools == 2);
  const auto said = rollout_findings(times, 100);
  REQUIRE(said.size() == 3);
  CHECK(
      said[0] ==
      "The slowest rollout of a step takes 1m 04s, the mean one 20.0 s: for up to 44.0 s of a step (44 %) few rollouts "
      "run.");
  CHECK(said[1] == "In 2 of 10 steps the slowest rollout spends more than half of its time in tools.");
  CHECK(said[2] == "The slowest rollout's response has 3000 tokens, the mean one 500.");
}

TEST_CASE("rollouts that wait for their tools most of the time are bound by latency") {
  FakeRun run;
  for (int64_t step = 1; step <= 4; ++step) {
    run.say(event::Measured{
        step,
        false,
        {{"rollout.time", "t/mean", 100}, {"rollout.time_max", "t/max", 110}, {"rollout.tools", "t/tools", 80}}});
  }
  const auto said = rollout_findings(rollout_times(run.state, {}), 200);
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("A mean rollout spends 1m 20s of 1m 40s (80 %) in tools") == 0);
}

TEST_CASE("rollouts of about the same time, or a step that is long for other reasons, are no finding") {
  FakeRun even;
  for (int64_t step = 1; step <= 10; ++step) say_step(even, step, 21, 2);
  CHECK(rollout_findings(rollout_times(even.state, {}), 100).empty());
  FakeRun rare;
  for (int64_t step = 1; step <= 10; ++step) {
    say_step(rare, step, 60, 4);
    rare.measure(step, 2000, "time.step", "time/step");
  }
  CHECK(rollout_findings(rollout_times(rare.state, {}), 0).empty());
  CHECK(rollout_times(FakeRun().state, {}).empty());
}

TEST_CASE("means and the slowest of a trainer that gives the whole time, and ranks that differ") {
  FakeRun run;
  for (int64_t step = 1; step <= 4; ++step) {
    run.say(event::Measured{step,
                            false,
                            {{"rollout.time", "t/mean", 30},
                             {"rollout.time_p90", "t/p90", 50},
                             {"rollout.time_max", "t/max", 70 + static_cast<double>(step)},
                             {"rank.rollout_min", "rank/min", 20},
                             {"rank.rollout_max", "rank/max", 55}}});
  }
  const RolloutTimes times = rollout_times(run.state, {});
  CHECK(times.whole.p90 == doctest::Approx(50));
  CHECK(times.whole.slowest_of_all == doctest::Approx(74));
  CHECK(times.split == 0);
  const auto said = rollout_findings(times, 100);
  REQUIRE(said.size() == 2);
  CHECK(said[1] == "Generation takes 55.0 s on the slowest rank, 20.0 s on the fastest.");
}

}  // namespace
}  // namespace mw
