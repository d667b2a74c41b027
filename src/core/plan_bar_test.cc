#include "core/plan_bar.h"

#include <doctest/doctest.h>

#include "core/state.h"

namespace mw {
namespace {

struct Log {
  State state;
  uint64_t line = 0;
  void say(decltype(Event::body) body) { fold(state, {{}, {0, ++line}, std::move(body)}); }
  const std::vector<AttemptState::BarMark>& marks() const { return state.attempts.back().bar; }
};

TEST_CASE("the bar over the steps of the plan says how long they took, other bars do not") {
  Log log;
  log.say(event::Planned{200});
  log.say(event::Progressed{"", 10, 200, 300});
  log.say(event::Progressed{"Loading checkpoint shards", 2, 4, 7});
  log.say(event::Progressed{"rollouts", 100, 200, 20});
  log.say(event::Progressed{"", 11, 200, -1});
  log.say(event::Progressed{"", 20, 200, 610});
  REQUIRE(log.marks().size() == 2);
  CHECK(log.marks().back().done == 20);
  CHECK(log.marks().back().elapsed == doctest::Approx(610));
  log.say(event::Progressed{"", 1, 200, 12});  // drawn anew
  REQUIRE(log.marks().size() == 1);
  CHECK(log.marks().back().done == 1);
}

TEST_CASE("a bar over steps that were done already is the next attempt's") {
  Log log;
  log.say(event::Planned{200});
  for (int64_t step = 1; step <= 60; ++step) {
    log.say(event::Progressed{"", step, 200, 10.0 * static_cast<double>(step)});
    log.say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
  }
  log.say(event::Progressed{"", 50, 200, 0});
  log.say(event::Progressed{"", 51, 200, 10});
  CHECK(log.marks().size() == 60);
  log.say(event::Measured{51, false, {{"reward.mean", "reward", 0.5}}});
  log.say(event::Progressed{"", 52, 200, 20});
  REQUIRE(log.state.attempts.size() == 2);
  CHECK(log.state.attempts.front().bar.back().elapsed == doctest::Approx(600));
  CHECK(log.marks().size() == 1);
}

TEST_CASE("of a long run's bar every second mark is dropped, never the last") {
  Log log;
  constexpr int64_t kSteps = 5000;
  log.say(event::Planned{kSteps});
  for (int64_t step = 1; step <= kSteps; ++step)
    log.say(event::Progressed{"", step, kSteps, 2.0 * static_cast<double>(step)});
  CHECK(log.marks().size() <= AttemptState::kBarMarks);
  CHECK(log.marks().size() >= AttemptState::kBarMarks / 2);
  CHECK(log.marks().back().done == kSteps);
  CHECK(log.marks().front().done == 1);
}

TEST_CASE("what the bar had shown before a line") {
  Log log;
  log.say(event::Planned{200});
  for (int64_t done = 10; done <= 12; ++done)
    log.say(event::Progressed{"", done, 200, 30.0 * static_cast<double>(done)});
  AttemptState& attempt = log.state.attempts.back();
  CHECK(shown_before(attempt, 0, 5) == 12);
  CHECK(shown_before(attempt, 0, 4) == 11);
  CHECK(shown_before(attempt, 0, 2) == kNoStep);
  CHECK(shown_before(attempt, 1, 5) == kNoStep);  // of another file it is not known
  attempt.first_step = 0;
  CHECK(shown_before(attempt, 0, 5) == 11);  // the twelfth step, counted from 0
}

}  // namespace
}  // namespace mw
