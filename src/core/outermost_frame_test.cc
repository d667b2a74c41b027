#include "core/outermost_frame.h"

#include <doctest/doctest.h>

#include "core/state.h"

namespace mw {
namespace {

/// 35 steps with a save, an exception, and the steps from `from` on.
State fails_between(bool from_module, int64_t from, int64_t saved = kNoStep) {
  State state;
  uint64_t line = 0;
  const auto say = [&](decltype(Event::body) body) { fold(state, {{}, {0, ++line}, std::move(body)}); };
  const auto measure = [&](int64_t step) {
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.01 * static_cast<double>(step)}}});
  };
  for (int64_t step = 1; step <= 35; ++step) {
    measure(step);
    if (step == saved) say(event::CheckpointSaved{step, "", true});
  }
  event::TraceSeen trace;
  trace.exception = "torch.OutOfMemoryError";
  say(event::TraceSeen(trace));
  if (from_module) say(event::Matched{"frame-of-module", "  File \"/w/train.py\", line 3, in <module>", 1, false});
  for (int64_t step = from; step <= 60; ++step) measure(step);
  return state;
}

TEST_CASE("an exception is from a module where the first of its frames is a module's") {
  const State whole = fails_between(true, 36), caught = fails_between(false, 36);
  CHECK(is_from_module(whole, whole.traces.front()));
  CHECK_FALSE(is_from_module(caught, caught.traces.front()));
}

TEST_CASE("a counter that goes back by a few steps behind what ended a program shows another attempt") {
  CHECK(fails_between(true, 31).attempts.size() == 2);
  CHECK(fails_between(false, 31).attempts.size() == 1);  // it may have been caught
  CHECK(fails_between(true, 34).attempts.size() == 1);   // a worker that is late
  CHECK(fails_between(true, 36).attempts.size() == 1);
  CHECK(fails_between(true, 34, 33).attempts.size() == 2);  // it went on behind its last save
  CHECK(fails_between(false, 34, 33).attempts.size() == 1);
}

}  // namespace
}  // namespace mw
