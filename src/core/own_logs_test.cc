// Attempts of one run that have a log each, as a scheduler gives them.
#include <doctest/doctest.h>

#include <string>

#include "core/attempts.h"
#include "core/state.h"

namespace mw {
namespace {

/// Two logs: the second one of `figures` is that of the same run's figures, or another.
struct Logs {
  State state;
  bool clock = false;

  explicit Logs(bool with_clock) : clock(with_clock) {
    for (uint32_t source = 0; source < 2; ++source)
      fold(state,
           {{}, {source, 0}, event::SourceOpened{source, source == 0 ? "1001.out" : "1002.out", "text", 0, 0, 0}});
  }
  Time at(double seconds) const { return clock ? Time::from_seconds(1'770'000'000 + seconds) : Time(); }
  void steps(uint32_t source, int64_t first, int64_t last, double off, double began) {
    for (int64_t step = first; step <= last; ++step) {
      const double value = 0.3137 + off + 0.001 * static_cast<double>(step);
      fold(state, {at(began + static_cast<double>(step)),
                   {source, static_cast<uint64_t>(step)},
                   event::Measured{step, false, {{"reward.mean", "reward", value}}}});
    }
  }
  void resumes(uint32_t source, int64_t step, bool says_when, double when = 0) {
    fold(state, {says_when ? at(when) : Time(), {source, 1}, event::Resumed{step, "ckpt"}});
  }
};

TEST_CASE("a log that begins with the trainer's word that it resumes is that of the next attempt") {
  for (const bool clock : {false, true}) {
    CAPTURE(clock);
    Logs logs(clock);
    logs.steps(0, 1, 148, 0, 0);
    logs.resumes(1, 100, false);
    logs.steps(1, 101, 180, 0.05, 1500);
    REQUIRE(logs.state.attempts.size() == 2);
    CHECK(logs.state.attempts[0].last_step == 148);
    CHECK(logs.state.attempts[0].resumed_at == kNoStep);
    CHECK(logs.state.attempts[1].resumed_at == 100);
    CHECK(logs.state.attempts[1].first_step == 101);
    CHECK(logs.state.attempts[1].last_step == 180);
  }
}

TEST_CASE("by its clock, too, where it says no word of it") {
  Logs logs(true);
  logs.steps(0, 1, 148, 0, 0);
  logs.steps(1, 101, 180, 0.05, 1500);
  REQUIRE(logs.state.attempts.size() == 2);
  CHECK(logs.state.attempts[1].first_step == 101);
}

TEST_CASE("a second view of an attempt that resumed begins none, whatever it says") {
  for (const bool clock : {false, true}) {
    CAPTURE(clock);
    Logs whole(clock);  // the first log has all of the run, with a counter that only goes forward
    whole.steps(0, 1, 180, 0, 0);
    whole.resumes(1, 148, clock, 148);
    whole.steps(1, 149, 180, 0, 0);
    CHECK(whole.state.attempts.size() == 1);
    CHECK(whole.state.attempts[0].last_step == 180);

    Logs both(clock);  // the second one is a view of the second attempt
    both.steps(0, 1, 148, 0, 0);
    both.steps(0, 101, 180, 0.05, 1500);
    REQUIRE(both.state.attempts.size() == 2);
    both.resumes(1, 100, false);
    both.steps(1, 101, 180, 0.05, 1500);
    CHECK(both.state.attempts.size() == 2);
    CHECK(both.state.attempts[1].resumed_at == 100);
    CHECK(both.state.attempts[0].resumed_at == kNoStep);
  }
}

TEST_CASE("a log of figures of its own that is written beside is no attempt") {
  Logs logs(true);
  logs.steps(0, 1, 60, 0, 0);
  logs.steps(1, 5, 60, 0.05, 0);  // a rank that began to log late
  CHECK(logs.state.attempts.size() == 1);
}

}  // namespace
}  // namespace mw
