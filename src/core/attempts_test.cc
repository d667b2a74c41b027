#include "core/attempts.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

#include "core/state.h"

namespace mw {
namespace {

/// One log without clocks, line by line.
class Log {
 public:
  template <typename Body>
  void say(Body body) {
    fold(state, {{}, {0, ++line_}, std::move(body)});
  }
  void steps(int64_t from, int64_t to, bool bar = false) {
    for (int64_t step = from; step <= to; ++step) {
      if (bar) say(event::Progressed{"", step, 200, 60.0 * static_cast<double>(step - from + 1)});
      say(event::Measured{step, false, {{"loss.total", "loss", 0.5 + 0.01 * static_cast<double>(step % 7)}}});
    }
  }
  void fail() {
    say(event::TraceSeen{"torch.OutOfMemoryError", "CUDA out of memory", "train.py:3 in main", line_ + 3});
  }

  State state;

 private:
  uint64_t line_ = 0;
};

}  // namespace

TEST_CASE("behind an exception a counter that goes back by a few steps is that of another attempt") {
  const auto attempts = [](bool fails) {
    Log log;
    log.steps(1, 35);
    if (fails) log.fail();
    log.steps(31, 60);
    return log.state.attempts.size();
  };
  CHECK(attempts(true) == 2);
  CHECK(attempts(false) == 1);  // records that came out of order
}

TEST_CASE("behind an exception the step after the last save is that of another attempt") {
  const auto attempts = [](bool fails, int64_t saved) {
    Log log;
    log.steps(1, 50);
    log.say(event::CheckpointSaved{saved, "", true});
    log.steps(51, 52);
    if (fails) log.fail();
    log.steps(51, 60);
    return log.state.attempts.size();
  };
  CHECK(attempts(true, 50) == 2);
  CHECK(attempts(false, 50) == 1);
  CHECK(attempts(true, 40) == 1);  // a line of another process that came late
}

TEST_CASE("behind an exception a bar over the steps that begins with none is that of another attempt") {
  const auto attempts = [](bool fails, int64_t total) {
    Log log;
    log.say(event::Planned{200});
    log.steps(1, 30, true);
    if (fails) log.fail();
    log.say(event::Progressed{"", 0, total, 0});
    log.steps(31, 60, true);
    return log.state.attempts.size();
  };
  CHECK(attempts(true, 200) == 2);
  CHECK(attempts(false, 200) == 1);
  CHECK(attempts(true, 25) == 1);  // of an evaluation
}

}  // namespace mw
