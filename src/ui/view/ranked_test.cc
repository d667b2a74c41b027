#include "ui/view/ranked.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/supervise/outcome_json.h"
#include "ui/testing/fake_run.h"
#include "ui/view/overview.h"
#include "ui/view/tool_times.h"

namespace mw {
namespace {

TEST_CASE("the most consequential incident comes first") {
  FakeRun run;
  run.measure(1, 0.5);
  run.incident("entropy-collapse", Severity::kWarning, 1, "a", "x");
  run.incident("engine-dead", Severity::kCritical, 2, "b", "x").open = false;
  run.incident("stall", Severity::kCritical, 3, "c", "x");
  run.incident("zero-reward", Severity::kCritical, 4, "d", "x");
  run.incident("network", Severity::kInfo, 5, "e", "x");
  std::vector<uint32_t> order;
  for (const Incident* incident : ranked_incidents(run.state)) order.push_back(incident->id);
  CHECK(order == std::vector<uint32_t>{4, 3, 1, 2});  // it spoils what is learnt; critical; a warning that stands; over
}

TEST_CASE("another job of the same log overcomes nothing; the next attempt at the same plan does") {
  for (const int64_t plan : {20, 50}) {
    FakeRun run;
    run.say(event::Planned{20});
    for (int step = 1; step <= 20; ++step) run.measure(step, 0.5);
    run.say(event::Ended{event::Ended::How::kComplete, 0, "train_runtime"});
    run.say(event::Planned{plan});
    for (int step = 1; step <= 50; ++step) run.measure(step, 0.5);
    run.incident("non-finite", Severity::kCritical, 1, "grad_norm is nan", "x").latest.attempt = 0;
    CHECK(overtaken(run.state, run.state.incidents[0]) == (plan == 20));
    CHECK(contains(status_line(run.state).rest, "non-finite in attempt 1 since step 1") == (plan == 50));
  }
}

TEST_CASE("a crash at the last step is overcome by the attempt that ends there well") {
  for (const int64_t code : {0, 1}) {
    FakeRun run;
    for (int step = 1; step <= 12; ++step) run.measure(step, 0.5);
    run.say(event::AttemptBegan{"again"});
    for (int step = 10; step <= 12; ++step) run.measure(step, 0.5);
    run.say(event::Ended{event::Ended::How::kExit, code, ""});
    run.incident("crash", Severity::kCritical, 12, "SIGKILL", "x").latest.attempt = 0;
    CHECK(overtaken(run.state, run.state.incidents[0]) == (code == 0));
  }
}

TEST_CASE("what ended an attempt does not lead over a later one that does steps and stands well") {
  for (const auto& [kind, over] : {std::pair("code-error", true), {"reward-collapse", false}}) {
    FakeRun run;
    for (int step = 1; step <= 50; ++step) run.measure(step, 0.5);
    run.incident(kind, Severity::kCritical, 50, "a", "x").latest.attempt = 0;
    run.say(event::AttemptBegan{"again"});
    CHECK_FALSE(overtaken(run.state, run.state.incidents[0]));  // it has yet to do a step
    for (int step = 1; step <= 9; ++step) run.measure(step, 0.5);
    CHECK(overtaken(run.state, run.state.incidents[0]) == over);
    run.incident("died-silently", Severity::kWarning, 9, "b", "x").latest.attempt = 1;
    CHECK_FALSE(overtaken(run.state, run.state.incidents[0]));
  }
}

TEST_CASE("an attempt that went well stays so when another one begins") {
  FakeRun run;
  for (int step = 1; step <= 50; ++step) run.measure(step, 0.5);
  run.incident("code-error", Severity::kCritical, 50, "a", "x").latest.attempt = 0;
  run.say(event::AttemptBegan{"again"});
  for (int step = 1; step <= 9; ++step) run.measure(step, 0.5);
  run.say(event::AttemptBegan{"once more"});
  CHECK(overtaken(run.state, run.state.incidents[0]));
  run.incident("crash", Severity::kCritical, 9, "b", "x").latest.attempt = 1;
  CHECK_FALSE(overtaken(run.state, run.state.incidents[0]));
}

TEST_CASE("attempts that all died at one step have overcome nothing of each other") {
  for (const bool last_goes_on : {false, true}) {
    FakeRun run;
    event::TraceSeen fault;
    fault.exception = "torch.OutOfMemoryError";
    for (int attempt = 0; attempt < 4; ++attempt) {
      if (attempt > 0) run.say(event::AttemptBegan{"again"});
      for (int step = attempt == 0 ? 1 : 41; step <= 45; ++step) run.measure(step, 0.5);
      run.say(fault);
    }
    if (last_goes_on) {
      run.say(event::AttemptBegan{"once more"});
      for (int step = 41; step <= 44; ++step) run.measure(step, 0.5);
    }
    run.state.verdict = last_goes_on ? "running" : "crashed";
    run.incident("crash", Severity::kCritical, 45, "4 attempts in a row came to the same end", "x").latest.attempt = 1;
    CHECK(overtaken(run.state, run.state.incidents[0]) == last_goes_on);
  }
}

TEST_CASE("of two that are as grave, what shows beside the trouble comes second") {
  FakeRun run;
  run.measure(1, 0.5);
  run.incident("eval-regression", Severity::kWarning, 1, "a", "x");
  run.incident("length-collapse", Severity::kWarning, 2, "b", "x");
  CHECK(ranked_incidents(run.state).front()->kind == "length-collapse");
}

TEST_CASE("a reaction is said in words") {
  Incident incident;
  const auto words = [&](std::string kind, Severity severity, std::string reaction) {
    incident.kind = std::move(kind);
    incident.severity = severity;
    incident.reaction = std::move(reaction);
    return reaction_text(incident);
  };
  CHECK(words("worker-lost", Severity::kCritical, "restart-component") == "restart the component that failed");
  CHECK(words("crash", Severity::kCritical, "stop-and-notify") == "notify: a person must look before it goes on");
  CHECK(words("reward-collapse", Severity::kCritical, "") == "none");
  CHECK(words("reward-collapse", Severity::kCritical, "something-new") == "something-new");
  // No attempt that goes on is ended but by the circuit breaker.
  CHECK(words("reward-collapse", Severity::kCritical, "stop-and-notify") == "notify; the run goes on");
  CHECK(words("zero-reward", Severity::kWarning, "stop-and-notify") == "notify; the run goes on");
  CHECK(words("zero-reward", Severity::kCritical, "stop-and-notify") ==
        "end the attempt once it is certain, and notify");
  CHECK(words("non-finite", Severity::kCritical, "rollback-before-onset") ==
        "end the attempt once it is certain, and go back to the last checkpoint before the onset");
  CHECK(words("kl-runaway", Severity::kWarning, "rollback-before-onset") ==
        "notify; whether to go back to before the onset is for a person to decide");
  // Nor is one started again that a judge's or a network's fault did not end.
  CHECK(words("network", Severity::kWarning, "retry") == "notify; start the run again if it ends of this");
  CHECK(words("environment-fault", Severity::kWarning, "stop-and-notify") == "notify; the run goes on");
  CHECK(words("network", Severity::kCritical, "retry") == "start the run again");
  // A checkpoint without weights says nothing of the disk's room.
  CHECK(words("checkpoint-incomplete", Severity::kWarning, "free-space-then-resume") == "notify; the run goes on");
  CHECK(words("disk-full", Severity::kCritical, "free-space-then-resume") ==
        "ask whether space may be freed, then resume");
}

TEST_CASE("the reaction to what ended a supervised attempt is what was decided") {
  FakeRun run;
  for (int step = 1; step <= 7; ++step) run.measure(step, 0.5);
  Incident& incident = run.incident("gpu-out-of-memory", Severity::kCritical, 7, "The training process ran out", "x");
  incident.reaction = "config-fix";
  // Nothing decided: a run that had come further than ever is started again (core/supervise/policy.h).
  CHECK(reaction_to(run.state, incident).text.starts_with("start the run again if it had come further"));
  FakeRun untrained;
  untrained.say(event::AttemptBegan{"began"});
  CHECK(reaction_to(untrained.state, incident).text == "none: a setting must be changed first");

  DecisionFacts facts;
  facts.outcome.kind = "gpu-out-of-memory";
  run.say(event::AttemptStarted{1, 77, ""});
  event::Decided decided;
  decided.attempt = 1;
  decided.restart = true;
  decided.wait_s = 2;
  decided.why = "It ended: gpu-out-of-memory, after progress.";
  decided.facts = facts_json(facts);
  run.say(std::move(decided));
  const Reaction reaction = reaction_to(run.state, run.state.incidents[0]);
  CHECK(reaction.decided);
  CHECK(reaction.text == "restart after 2.0 s. It ended: gpu-out-of-memory, after progress.");
  Incident& other = run.incident("checkpoint-incomplete", Severity::kWarning, 6, "no weights in it", "x");
  other.reaction = "free-space-then-resume";
  CHECK_FALSE(reaction_to(run.state, other).decided);
  CHECK(reaction_to(run.state, other).text == "notify; the run goes on");
}

TEST_CASE("nothing is said twice") {
  Incident incident;
  incident.summary = "CUDA out of memory";
  incident.evidence.push_back({{0, 7}, "CUDA out of memory ", "", kNoStep, 0});
  incident.evidence.push_back({{0, 8}, "Tried to allocate 2 GiB", "", kNoStep, 0});
  incident.evidence.push_back(incident.evidence.back());
  REQUIRE(fresh_evidence(incident).size() == 1);
  CHECK(fresh_evidence(incident)[0]->text == "Tried to allocate 2 GiB");
  CHECK(fresh_reasons(incident, {"seen first: Tried to allocate 2 GiB", "the memory grew before"}) ==
        std::vector<std::string>{"the memory grew before"});
  CHECK(fresh_reasons(incident, {"seen: something else"}).size() == 1);
}

TEST_CASE("causes that nothing speaks for are no finding") {
  Incident incident;
  incident.causes.push_back({"first", "", 0.3, {}, {}, "", ""});
  incident.causes.push_back({"listed", "", 0.2, {}, {}, "", ""});
  incident.causes.push_back({"argued", "", 0.2, {}, {"the disk was free"}, "", ""});
  const auto shown = shown_causes(incident, 4);
  REQUIRE(shown.size() == 2);
  CHECK(shown[0]->id == "first");
  CHECK(shown[1]->id == "argued");
}

TEST_CASE("the median of a tool's calls is exact while few are kept, and close when they are thinned") {
  FakeRun run;
  for (int call = 1; call <= 100; ++call)
    run.say(event::ToolCalled{"search", static_cast<double>(call), event::ToolCalled::Outcome::kOk, ""});
  CHECK(time_quantile(run.state.tools.at("search"), 0.5) == 50);
  CHECK(time_quantile(run.state.tools.at("search"), 0.95) == 95);
  CHECK(calls_over(run.state.tools.at("search"), 60) == 40);
  for (int call = 0; call < 9900; ++call)
    run.say(event::ToolCalled{"search", static_cast<double>(call % 100 + 1), event::ToolCalled::Outcome::kOk, ""});
  const ToolState& tool = run.state.tools.at("search");
  CHECK(tool.timed == 10'000);
  CHECK(tool.times.size() <= ToolState::kTimesKept);
  CHECK(time_quantile(tool, 0.5) == doctest::Approx(50).epsilon(0.1));
  CHECK(calls_over(tool, 60) == doctest::Approx(4000).epsilon(0.1));
  CHECK(time_quantile(ToolState{}, 0.5) == 0);
}

TEST_CASE("an abort behind the last step is overcome by the attempt that finds nothing left to do and ends well") {
  for (const int64_t from : {12, 10}) {
    FakeRun run;
    for (int step = 1; step <= 12; ++step) run.measure(step, 0.5);
    run.say(event::AttemptBegan{"again"});
    run.say(event::Resumed{from, "checkpoints/global_step"});
    run.say(event::Ended{event::Ended::How::kExit, 0, ""});
    run.incident("crash", Severity::kCritical, 12, "abort", "x").latest.attempt = 0;
    CHECK(overtaken(run.state, run.state.incidents[0]) == (from == 12));
  }
}

}  // namespace
}  // namespace mw
