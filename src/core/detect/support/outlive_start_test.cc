// What failed before the training, or in a start that another one followed, is not what the run died of.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {
namespace {

/// A run whose steps lie in one file and whose errors in another one.
class Errors {
 public:
  explicit Errors(int64_t steps) {
    say(0, 1, event::SourceOpened{0, "job.out", "text", 0});
    say(1, 1, event::SourceOpened{1, "job.err", "text", 0});
    for (int64_t step = 1; step <= steps; ++step)
      say(0, static_cast<uint64_t>(step), event::Measured{step, false, {{"loss.total", "loss", 2.5}}});
  }
  void raise(uint64_t line, std::string exception, std::string message, Time at = {}) {
    event::TraceSeen trace;
    trace.exception = std::move(exception);
    trace.message = std::move(message);
    trace.frame = "/w/own.py:3 in <module>";
    trace.last_line = line + 9;
    say(1, line, std::move(trace), at);
  }
  void exit(int64_t code) { say(0, 90, event::Ended{event::Ended::How::kExit, code, "exit status"}); }
  std::vector<FailureChain> chains(int64_t lines) {
    say(1, 0, event::SourceEnded{0, lines, false, ""});
    say(1, 0, event::Closed{});
    return fatal_chains(state_, symptoms_of(state_, knowledge_));
  }

 private:
  template <typename Body>
  void say(uint32_t source, uint64_t line, Body body, Time at = {}) {
    Event event;
    event.at = at;
    event.where = {source, line};
    event.body = std::move(body);
    fold(state_, event);
  }
  State state_;
  Knowledge knowledge_;
};

Time at(double seconds) { return Time::from_seconds(1'700'000'000.0 + seconds); }

}  // namespace

TEST_CASE("a helper that could not begin does not lead where the trainer did its steps after it") {
  Errors run(50);
  run.raise(1, "ModuleNotFoundError", "No module named 'tracker'");
  run.raise(200, "StopIteration", "");
  const auto chains = run.chains(400);
  REQUIRE(chains.size() == 1);
  CHECK(chains[0].lead.trace->trace.exception == "StopIteration");
}

TEST_CASE("a missing module that ends a run which did steps leads: nothing but the ranks' own words follows") {
  Errors run(50);
  for (uint64_t rank = 0; rank < 30; ++rank) run.raise(1 + rank * 10, "ModuleNotFoundError", "No module named 'hub'");
  const auto chains = run.chains(301);
  REQUIRE(chains.size() == 1);
  CHECK(chains[0].lead.moment.where.line == 1);
}

TEST_CASE("without a step a missing module leads, whatever follows it") {
  Errors run(0);
  run.raise(1, "ModuleNotFoundError", "No module named 'hub'");
  run.raise(30, "StopIteration", "");
  const auto chains = run.chains(400);
  REQUIRE(chains.size() == 1);
  CHECK(chains[0].lead.trace->trace.exception == "ModuleNotFoundError");
}

TEST_CASE("a start that failed at once and one that got further are two failures") {
  Errors run(0);
  run.raise(1, "ModuleNotFoundError", "No module named 'hub'", at(0));
  run.raise(20, "ModuleNotFoundError", "No module named 'bus'", at(100));
  run.raise(60, "KeyError", "'3'", at(400));
  const auto chains = run.chains(80);
  REQUIRE(chains.size() == 2);
  CHECK(chains[0].replaced);
  CHECK(chains[0].kind == "dependency-broken");
  CHECK_FALSE(chains[1].replaced);
  CHECK(chains[1].lead.trace->trace.exception == "KeyError");
}

TEST_CASE("ranks of one start that fail within a minute are one failure") {
  Errors run(0);
  run.raise(1, "ModuleNotFoundError", "No module named 'hub'", at(0));
  run.raise(60, "KeyError", "'3'", at(20));
  CHECK(run.chains(80).size() == 1);
}

TEST_CASE("an exception at the end of a log without a clock explains the status that another file has") {
  Errors run(50);
  run.raise(60, "TypeError", "push() got an unexpected keyword argument 'private'");
  run.exit(1);
  const auto chains = run.chains(69);
  REQUIRE(chains.size() == 1);
  CHECK(chains[0].lead.trace->trace.exception == "TypeError");
}

}  // namespace mw::detect
