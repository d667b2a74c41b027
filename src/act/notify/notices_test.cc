#include "act/notify/notices.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/cost.h"

namespace mw {
namespace {

/// An attempt that did 26 of 200 steps, saved step 20, and crashed; midwatch starts another.
State crashed() {
  State state;
  double at = 1'700'000'000;
  uint64_t line = 0;
  const auto say = [&](auto body) { fold(state, {Time::from_seconds(at), {0, ++line}, std::move(body)}); };
  say(event::SourceOpened{0, "train.log", "text", 0});
  say(event::Planned{200});
  for (int64_t step = 1; step <= 26; ++step) {
    at += 60;
    say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
    if (step == 20) say(event::CheckpointSaved{20, "/c/step_20", true});
  }
  set_cost_per_hour(state, 20);
  state.verdict = "crashed";
  SupervisedAttempt attempt;
  attempt.number = 1;
  attempt.decided = attempt.restart = true;
  attempt.why = "It crashed.";
  state.supervision.attempts.push_back(attempt);
  return state;
}

constexpr const char* kCost = "6 of 26 steps are lost, 6m 00s of work (2.00 at 20.00 an hour)";

TEST_CASE(
    "the notice of an attempt that is over says what its end cost, of the last one only, and not where it finished") {
  State state = crashed();
  REQUIRE(attempt_news(state).size() == 1);
  CHECK(contains(attempt_news(state)[0].what, kCost));
  CHECK(contains(attempt_news(state)[0].what, "Resume from step 20"));
  state.attempts.emplace_back();
  CHECK_FALSE(contains(attempt_news(state)[0].what, "are lost"));
  State finished = crashed();
  finished.verdict = "finished";
  CHECK_FALSE(contains(attempt_news(finished)[0].what, "are lost"));
}

TEST_CASE("the notice of a crash says what it cost") {
  State state = crashed();
  Incident incident;
  incident.id = 3;
  incident.kind = "crash";
  incident.severity = Severity::kCritical;
  incident.summary = "RuntimeError";
  incident.open = true;
  state.incidents.push_back(incident);
  Notice notice;
  notice.incident = 3;
  fill_in(notice, state, {"run", "/home", true});
  CHECK(contains(notice.advice, kCost));
}

}  // namespace
}  // namespace mw
