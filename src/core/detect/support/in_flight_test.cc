// A log that says little ends in a traceback, and another file of the run has later steps.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {
namespace {

Time at(double seconds) { return Time::from_seconds(1'700'000'000.0 + seconds); }

class Beside {
 public:
  Beside() {
    say(0, 0, event::SourceOpened{0, "train.log", "text", 0});
    say(1, 0, event::SourceOpened{1, "metrics.jsonl", "jsonl", 0});
  }
  void log(int64_t step) { say(0, ++line_, step_of(step)); }
  /// One every thirty seconds.
  void metrics(int64_t first, int64_t last) {
    for (int64_t step = first; step <= last; ++step)
      say(1, static_cast<uint64_t>(step), step_of(step), at(30.0 * static_cast<double>(step)));
  }
  void raise() {
    event::TraceSeen trace;
    trace.exception = "KeyError";
    trace.message = "'answer'";
    trace.frame = "/w/own.py:3 in score";
    trace.last_line = line_ + 9;
    say(0, line_ + 1, std::move(trace));
    line_ += 9;
  }
  void tick(double seconds) { say(0, 0, event::Ticked{}, at(seconds)); }
  size_t failures() { return fatal_chains(state_, symptoms_of(state_, knowledge_)).size(); }
  size_t failures_at_end(Time last = {}) {
    say(0, line_, event::SourceEnded{0, static_cast<int64_t>(line_), false, ""}, last);
    say(0, 0, event::Closed{});
    return failures();
  }

 private:
  static event::Measured step_of(int64_t step) { return {step, false, {{"reward.mean", "reward", 0.5}}}; }
  template <typename Body>
  void say(uint32_t source, uint64_t line, Body body, Time time = {}) {
    Event event;
    event.at = time;
    event.where = {source, line};
    event.body = std::move(body);
    fold(state_, event);
  }
  uint64_t line_ = 0;
  State state_;
  Knowledge knowledge_;
};

}  // namespace

TEST_CASE("a log that prints every tenth step is behind: what the metrics have of the steps between refutes no crash") {
  const auto fails = [](int64_t metrics_until) {
    Beside run;
    for (int64_t step = 10; step <= 70; step += 10) run.log(step);
    run.metrics(1, metrics_until);
    run.raise();
    return run.failures_at_end() == 1;
  };
  CHECK(fails(70));
  CHECK(fails(79));
  CHECK_FALSE(fails(120));  // the next lines of the log are missing: whoever raised it was caught
}

TEST_CASE(
    "steps of another file refute no crash of a log that ends with it and says no step, where both stop at once") {
  const auto fails = [](double last_clock) {
    Beside run;
    run.metrics(1, 213);
    run.raise();
    return run.failures_at_end(at(last_clock)) == 1;
  };
  CHECK(fails(30.0 * 213));
  CHECK_FALSE(fails(30.0 * 10));  // an evaluation of long before
}

TEST_CASE("in a watch what comes after the first turn behind a traceback refutes it") {
  Beside run;
  for (int64_t step = 10; step <= 70; step += 10) run.log(step);
  run.metrics(1, 73);
  run.tick(30.0 * 73);
  run.raise();
  run.metrics(74, 75);  // read in the same turn
  CHECK(run.failures() == 1);
  run.tick(30.0 * 75 + 10);
  CHECK(run.failures() == 1);
  run.metrics(76, 76);
  CHECK(run.failures() == 0);
}

}  // namespace mw::detect
