#include "ui/view/compare.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "ui/testing/fake_run.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

TEST_CASE("compare puts different ranges side by side") {
  FakeRun a, b;
  for (int step = 1; step <= 20; ++step) a.measure(step, 0.1 * step);
  for (int step = 15; step <= 40; ++step) b.measure(step, step < 18 ? 0.1 * step : 9.0);
  const Comparison both = compare(a.state, b.state);
  REQUIRE(both.metrics.size() == 1);
  CHECK(both.metrics[0].common_steps == 6);
  CHECK(both.metrics[0].first_difference == 18);
  CHECK(both.metrics[0].a_mean == doctest::Approx(1.75));

  FakeRun late;
  for (int step = 100; step <= 110; ++step) late.measure(step, 3);
  const Comparison apart = compare(a.state, late.state);
  REQUIRE(apart.metrics.size() == 1);
  CHECK(apart.metrics[0].common_steps == 0);
  CHECK(apart.metrics[0].first_difference == kNoStep);
  CHECK(apart.metrics[0].b_mean == doctest::Approx(3));
  CHECK(compare(State{}, a.state).metrics.empty());
}

TEST_CASE("one attempt of a run is a run of its own") {
  FakeRun run;
  for (int step = 1; step <= 10; ++step) run.measure(step, 1);
  for (int step = 1; step <= 4; ++step) run.measure(step, 2);
  REQUIRE(run.state.attempts.size() == 2);
  const State second = attempt_of(run.state, 2);
  REQUIRE(second.find("reward.mean") != nullptr);
  CHECK(second.find("reward.mean")->points().size() == 4);
  CHECK(second.find("reward.mean")->first() == 2);
  CHECK(since(run.state, Cycle{8, {}}).find("reward.mean")->points().size() == 3);
}

TEST_CASE("an attempt's first line is about its own end, steps and incidents") {
  FakeRun run;
  for (int step = 1; step <= 7; ++step) run.measure(step, 1);
  run.incident("gpu-out-of-memory", Severity::kCritical, 7, "The training process ran out of GPU memory", "x");
  for (int step = 1; step <= 16; ++step) run.measure(step, 2);
  run.say(event::Ended{event::Ended::How::kComplete, 0, "Training finished"});
  run.state.verdict = "finished";
  REQUIRE(run.state.attempts.size() == 2);
  REQUIRE(run.state.incidents.size() == 1);
  REQUIRE(run.state.incidents[0].latest.attempt == 0);
  const State first = attempt_of(run.state, 1), second = attempt_of(run.state, 2);
  CHECK(first.steps().count == 7);
  CHECK(first.verdict == "crashed");
  CHECK(status_line(first).word == "CRASHED");
  CHECK(contains(status_line(first).rest, "gpu-out-of-memory"));
  CHECK_FALSE(contains(status_line(first).rest, "overcome"));
  CHECK(second.steps().count == 16);
  CHECK(status_line(second).word == "FINISHED");
  CHECK(second.incidents.empty());
  CHECK_FALSE(contains(status_line(second).rest, "overcome"));
}

TEST_CASE("a figure that takes both signs has no change in per cent") {
  FakeRun a, b;
  for (int step = 1; step <= 4; ++step) {
    a.measure(step, step % 2 == 0 ? -0.3 : 0.1);
    b.measure(step, 0.4);
  }
  REQUIRE_FALSE(compare(a.state, b.state).metrics.empty());
  CHECK(compare(a.state, b.state).metrics[0].takes_both_signs);
  CHECK_FALSE(compare(b.state, b.state).metrics[0].takes_both_signs);
}

TEST_CASE("two runs step by step: evenly spread rows, and the one at which they part") {
  FakeRun a, b;
  for (int step = 1; step <= 50; ++step) {
    a.measure(step, 0.5);
    b.measure(step, step < 33 ? 0.5 : 0.1);
  }
  a.state.config["lr"] = "1e-6";
  b.state.config["lr"] = "1e-5";
  b.state.config["summary/reward"] = "0.1";
  b.state.config["run/id"] = "x7";
  const Comparison both = compare(a.state, b.state);
  REQUIRE(both.settings.size() == 1);
  CHECK(both.settings[0].key == "lr");
  REQUIRE_FALSE(both.metrics.empty());
  std::vector<int64_t> steps;
  for (const ComparedStep& row : side_by_side(both.metrics.front(), 5)) steps.push_back(row.step);
  CHECK(steps == std::vector<int64_t>{1, 13, 25, 33, 37, 50});
  CHECK(side_by_side(both.metrics.front(), 100).size() == 50);
}

}  // namespace
}  // namespace mw
