#include "act/notify/notices.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/cost.h"
#include "core/supervise/decide_component.h"
#include "core/supervise/outcome_json.h"

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
  REQUIRE(attempt_news(state, {}).size() == 1);
  CHECK(contains(attempt_news(state, {})[0].what, kCost));
  CHECK(contains(attempt_news(state, {})[0].what, "Resume from step 20"));
  state.attempts.emplace_back();
  CHECK_FALSE(contains(attempt_news(state, {})[0].what, "are lost"));
  State finished = crashed();
  finished.verdict = "finished";
  CHECK_FALSE(contains(attempt_news(finished, {})[0].what, "are lost"));
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

/// A run of which NaN was seen at step 21, and about which midwatch asks.
State asking() {
  State state = crashed();
  state.verdict = "running";
  state.supervision.attempts.clear();
  Incident incident;
  incident.id = 1;
  incident.kind = "non-finite";
  incident.severity = Severity::kCritical;
  incident.summary = "The loss is nan";
  incident.onset.step = 21;
  incident.open = true;
  state.incidents.push_back(incident);
  SupervisedAttempt attempt;
  attempt.number = 1;
  attempt.started = true;
  attempt.breaking = {true, Approval::Answer::kNone, "attempt 1 would be ended: non-finite since step 21",
                      Time::from_seconds(1'700'000'900)};
  state.supervision.attempts.push_back(attempt);
  return state;
}

TEST_CASE("what midwatch asks about an attempt that runs is sent as asks, and once more when it is paused for it") {
  const NoticeContext context{"night", "/home", true, true};
  State state = asking();
  std::vector<Notice> news = attempt_news(state, context);
  REQUIRE(news.size() == 1);
  CHECK(news[0].event == "asks");
  CHECK(news[0].severity == Severity::kCritical);
  CHECK(contains(news[0].what, "attempt 1 would be ended: non-finite since step 21"));
  CHECK(contains(news[0].advice, "midwatch approve --run night --home /home"));
  CHECK(contains(news[0].advice, "Resume from step 20"));
  const std::string asked = news[0].key;
  CHECK(asked.starts_with(kAsksKey));
  state.supervision.pause = true;
  state.supervision.pause_by = kByMidwatch;
  news = attempt_news(state, context);
  REQUIRE(news.size() == 1);
  CHECK(news[0].key != asked);
  CHECK(contains(news[0].did, "nothing is trained until somebody answers"));
  state.supervision.attempts[0].breaking.answer = Approval::Answer::kYes;
  CHECK(attempt_news(state, context).empty());
}

TEST_CASE("that the next attempt began is sent once more where a person had to approve it") {
  State state = crashed();
  SupervisedAttempt& first = state.supervision.attempts[0];
  first.asks = true;
  REQUIRE(attempt_news(state, {}).size() == 1);
  CHECK(attempt_news(state, {})[0].event == "asks");
  first.restarting.answer = Approval::Answer::kYes;
  CHECK(attempt_news(state, {}).size() == 1);
  SupervisedAttempt next;
  next.number = 2;
  next.started = true;
  state.supervision.attempts.push_back(next);
  REQUIRE(attempt_news(state, {}).size() == 2);
  CHECK(attempt_news(state, {})[1].event == "restarted");
  CHECK(attempt_news(state, {})[1].did == "Started attempt 2, as it was approved.");
  state.supervision.attempts[0].asks = false;  // it needed nobody: its own notice was this one
  CHECK(attempt_news(state, {}).size() == 1);
}

TEST_CASE("a run that ends for want of a component says so, and is no stop by request") {
  State state = crashed();
  SupervisedAttempt& attempt = state.supervision.attempts[0];
  AttemptOutcome outcome;
  outcome.stop_requested = true;
  outcome.stopped_for = "The run cannot go on without component judge: 2 restarts in a row did not help.";
  attempt.restart = false;
  attempt.why = outcome.stopped_for;
  attempt.facts = facts_json({outcome, {}, {}});
  CHECK(attempt_news(state, {})[0].event == "stopped");
  CHECK(attempt_news(state, {})[0].severity == Severity::kCritical);
  CHECK(contains(attempt_news(state, {})[0].advice, "output/NAME.log"));
  State never;  // it was given up before the first attempt began
  never.supervision.requests.push_back({{}, Time::from_seconds(1), "stop", by_component("judge")});
  REQUIRE(attempt_news(never, {}).size() == 1);
  CHECK(contains(attempt_news(never, {})[0].what, "without component judge"));
}

}  // namespace
}  // namespace mw
