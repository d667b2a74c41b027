#include "core/supervise/supervision.h"

#include <doctest/doctest.h>

#include "core/state.h"
#include "core/supervise/outcome_json.h"

namespace mw {
namespace {

struct Run {
  State state;
  int64_t now = 1'000;
  template <typename Body>
  void put(Body body) {
    fold(state, {{}, {}, std::move(body), Time{now += 1'000}});
  }
  const SupervisedAttempt& last() const { return state.supervision.attempts.back(); }
};

TEST_CASE("an attempt's life is folded from its events, with the times of their receipt") {
  Run run;
  run.put(event::WatchBegan{"0.1.0", "00ff", ""});
  run.put(event::AttemptStarted{1, 4711, "boot-1"});
  CHECK((run.last().started && run.last().pid == 4711 && !run.last().exited && run.last().started_at.ns == 3'000));
  run.put(event::AttemptExited{1, true, -1, 9, ""});
  CHECK((run.last().exited && run.last().known && run.last().signal == 9 && run.last().exited_at.ns == 4'000));
  run.put(event::Decided{1, true, 10, "It was ended by signal 9, after progress.", "{}", false, "{}"});
  CHECK((run.last().decided && run.last().restart && run.last().wait_s == 10));
  run.put(event::AttemptStarted{2, 4800, "boot-1"});
  CHECK(run.state.supervision.attempts.size() == 2);
  REQUIRE(run.state.supervision.attempt(1) != nullptr);
  CHECK(run.state.supervision.attempt(1)->pid == 4711);
  CHECK(run.state.supervision.attempt(3) == nullptr);
  CHECK(run.state.supervision.watches.size() == 1);
}

TEST_CASE("an approval is asked, answered, and withdrawn") {
  Run run;
  run.put(event::AttemptStarted{1, 1, ""});
  run.put(event::Asked{1, "break", "so"});
  CHECK((run.last().breaking.asked && run.last().breaking.answer == Approval::Answer::kNone));
  run.put(event::Answered{1, "break", "no"});
  CHECK(run.last().breaking.answer == Approval::Answer::kNo);
  run.put(event::Answered{1, "break", "withdrawn"});
  CHECK((!run.last().breaking.asked && run.last().breaking.answer == Approval::Answer::kNone));
  run.put(event::Asked{1, "restart", ""});
  run.put(event::Answered{1, "restart", "yes"});
  CHECK(run.last().restarting.answer == Approval::Answer::kYes);
  run.put(event::Asked{1, "break", "so"});
  run.put(event::Answered{1, "break", std::string(kUnanswered)});
  CHECK((run.last().breaking.answer == Approval::Answer::kYes && !run.last().breaking.waits()));
  run.put(event::Asked{1, "dance", ""});  // of a later version: nothing is made of it
  run.put(event::Answered{7, "break", "yes"});
  CHECK_FALSE(run.last().breaking.asked);
}

TEST_CASE("pauses follow what was done, stops what was requested") {
  Run run;
  run.put(event::AttemptStarted{1, 1, ""});
  run.put(event::Intended{1, "pause", "attempt 1", 0, ""});
  CHECK_FALSE(run.state.supervision.paused);
  run.put(event::Acted{1, false, "refused", 0});
  CHECK_FALSE(run.state.supervision.paused);
  run.put(event::Intended{2, "pause", "attempt 1", 0, ""});
  run.put(event::Acted{2, true, "3 processes", 0});
  CHECK(run.state.supervision.paused);
  run.put(event::Intended{3, "resume", "attempt 1", 0, ""});
  run.put(event::Acted{3, true, "3 processes", 0});
  CHECK_FALSE(run.state.supervision.paused);
  run.put(event::Requested{"pause", "mira@node7"});
  CHECK((run.state.supervision.pause && run.state.supervision.pause_by == "mira@node7"));
  CHECK_FALSE(run.state.supervision.stop);
  run.put(event::AttemptExited{1, true, 1, 0, ""});
  CHECK(run.state.supervision.pause);  // hers holds until she resumes it
  run.put(event::Requested{"pause", std::string(kByMidwatch)});
  run.put(event::AttemptExited{1, true, 1, 0, ""});
  CHECK_FALSE(run.state.supervision.pause);  // there is nothing to approve any more
  run.put(event::Requested{"kill", "mira@node7"});
  CHECK(run.state.supervision.stop);
  CHECK(run.state.supervision.requests.size() == 3);
}

TEST_CASE(
    "for what the breaker ended an attempt and who came from it is folded; a plan that is too long counts as none") {
  Run run;
  run.put(event::Tripped{1, "engine-dead", "vllm-dead", "restart-component", "It died.", 75, 2, 900});
  run.put(event::MembersSeen{1, "boot-1", "7:100 8:120"});
  run.put(event::MembersSeen{1, "boot-1", "8:120"});
  REQUIRE(run.last().trip);
  CHECK((run.last().trip->kind == "engine-dead" && run.last().trip->step == 75 && run.last().trip->line == 900));
  REQUIRE(run.last().members);
  CHECK(run.last().members->processes == "8:120");
  run.put(event::Decided{1, true, 10, "So.", "{}", true, std::string(1 << 20, 'x')});
  CHECK((run.last().asks && run.last().plan.empty()));
}

TEST_CASE("what is only reported is not asked, and is known by its text") {
  Run run;
  run.put(event::Asked{1, "break", "attempt 1 would be ended"});
  CHECK(run.last().breaking.waits());
  run.put(event::Answered{1, "break", std::string(kOnlyWatching)});
  CHECK_FALSE(run.last().breaking.waits());
  CHECK(run.last().breaking.text == "attempt 1 would be ended");
  run.put(event::Answered{1, "break", "withdrawn"});
  CHECK(run.last().breaking.text.empty());
}

TEST_CASE("hostile numbers and endless lists stay within their limits") {
  Run run;
  run.put(event::AttemptStarted{0, 1, ""});
  run.put(event::AttemptStarted{-5, 1, ""});
  run.put(event::AttemptStarted{kNoStep, 1, ""});
  CHECK(run.state.supervision.attempts.empty());
  for (int64_t n = 1; n <= 3 * static_cast<int64_t>(Supervision::kAttemptLimit); ++n) {
    run.put(event::AttemptStarted{n, n, ""});
    run.put(event::Requested{"pause", std::string(5'000, 'x')});
  }
  CHECK(run.state.supervision.attempts.size() == Supervision::kAttemptLimit);
  CHECK(run.state.supervision.requests.size() <= Supervision::kRequestLimit);
  CHECK(run.last().number == 3 * static_cast<int64_t>(Supervision::kAttemptLimit));
  run.put(event::AttemptExited{1, true, 0, 0, ""});  // too old to be kept
  CHECK(run.state.supervision.attempt(1) == nullptr);
  CHECK(run.state.supervision.requests.back().who.size() < 300);
}

TEST_CASE("what a decision rests on is read back as written, and decides the same") {
  DecisionFacts facts;
  facts.outcome.started = facts.outcome.known = true;
  facts.outcome.code = 1;
  facts.outcome.last_step = 40;
  facts.outcome.last_checkpoint = 30;
  facts.outcome.finished = facts.outcome.made_room = facts.outcome.can_roll_back = true;
  facts.outcome.kind = "engine-dead";
  facts.outcome.layer = "vllm";
  facts.limits.restarts = 3;
  facts.limits.first_wait = Duration::seconds(2);
  facts.decision = after_end({facts.outcome}, facts.limits);
  const auto again = facts_from_json(facts_json(facts));
  REQUIRE(again);
  CHECK(again->outcome.last_step == 40);
  CHECK((again->outcome.onset == kNoStep && again->outcome.finished && again->outcome.made_room));
  const RestartDecision decided = after_end({again->outcome}, again->limits);
  CHECK((decided.restart == facts.decision.restart && decided.why == facts.decision.why));
  CHECK((again->decision.wait == facts.decision.wait && again->decision.why == facts.decision.why));
  CHECK_FALSE(facts_from_json("{}"));
  CHECK_FALSE(facts_from_json("no JSON"));
}

TEST_CASE("nothing of a run that midwatch started is older than its first attempt, whatever a line of it quotes") {
  State state;
  const Time start = Time::from_seconds(1'700'000'000);
  fold(state, {start, {}, event::AttemptStarted{1, 4711, "boot"}, start});
  fold(state, {Time::from_seconds(1'699'990'000), {0, 7}, event::Matched{"x", "quoted", 1, true}, start});
  CHECK(state.first_at == start);
}

}  // namespace
}  // namespace mw
