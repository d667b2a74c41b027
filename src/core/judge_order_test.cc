// Which of several troubles leads, and which is only a sign of another.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/planted_run_for_test.h"

namespace mw {

TEST_CASE("a worker that died before a collective operation timed out leads, one that died after it does not") {
  for (const bool before : {true, false}) {
    PlantedRun run;
    run.steps(1, 20);
    if (before) run.matched("ray-actor-died");
    run.matched("nccl-watchdog-timeout");
    if (!before) run.matched("ray-actor-died");
    const auto incidents = run.close();
    CHECK(notable(incidents) == (before ? "worker-lost/ray-actor-died" : "collective-timeout/nccl-watchdog-timeout"));
  }
}

TEST_CASE("asyncio's question whether a loop runs is not what a chain of exceptions began with") {
  PlantedRun run;
  run.steps(1, 20);
  run.trace("RuntimeError", "no running event loop", "base.py:1583 in run", false, true);
  run.trace("TypeError", "'NoneType' object is not subscriptable", "env.py:25 in prompt", false, true);
  run.trace("asyncio.exceptions.CancelledError", "", "base.py:1100 in run");
  const auto incidents = run.close();
  REQUIRE(!incidents.empty());
  CHECK(incidents[0].kind == "code-error");
  CHECK(incidents[0].summary.find("NoneType") != std::string::npos);
}

TEST_CASE("what was over before another trouble began did not lead to it") {
  for (const bool over : {true, false}) {
    CAPTURE(over);
    PlantedRun run;
    for (int64_t step = 1; step <= 100; ++step) {
      const bool apart = step >= 31 && (!over || step <= 36);
      const double reward = (step < 46 ? 0.6 : 0.05) + 0.01 * static_cast<double>(step % 5);
      const double gap = (apart ? 0.3 : 0.008) + 0.0001 * static_cast<double>(step % 7);
      run.say(
          event::Measured{step, false, {{"reward.mean", "reward", reward}, {"mismatch.logp_diff", "logp_diff", gap}}});
    }
    const auto incidents = run.close();
    REQUIRE(has(incidents, "reward-collapse", "performance-collapse-single-step"));
    const auto mismatch = std::find_if(incidents.begin(), incidents.end(),
                                       [](const Incident& one) { return one.kind == "policy-mismatch"; });
    REQUIRE(mismatch != incidents.end());
    CHECK(mismatch->open == !over);
    CHECK(mismatch->followed_by.empty() == over);
  }
}

TEST_CASE("answers that end in the very step of a zero reward are no incident of their own") {
  for (const bool same : {true, false}) {
    PlantedRun run;
    for (int64_t step = 1; step <= 60; ++step) {
      const double reward = step < 31 ? 0.5 + 0.01 * static_cast<double>(step % 5) : 0;
      const double length = step < (same ? 31 : 27) ? 300 + static_cast<double>(step % 7) : 5;
      run.say(event::Measured{
          step, false, {{"reward.mean", "reward", reward}, {"response.length", "response_length", length}}});
    }
    const auto incidents = run.close();
    REQUIRE(has(incidents, "zero-reward", "reward-sudden-zero"));
    for (const Incident& incident : incidents) {
      if (incident.kind == "length-collapse") CHECK((incident.severity == Severity::kInfo) == same);
    }
    REQUIRE(has(incidents, "length-collapse", "length-collapse"));
  }
}

TEST_CASE("answers that go on shrinking are one alarm, with how short they became") {
  const auto said = [](double second, double third) {
    PlantedRun run;
    for (int64_t step = 1; step <= 70; ++step) {
      const double length = step < 31 ? 1000 + static_cast<double>(step % 7) : step < 40 ? second : third;
      const double reward = step < 31 ? 0.5 + 0.01 * static_cast<double>(step % 5) : step < 40 ? 0.25 : 0.1;
      run.say(event::Measured{
          step, false, {{"reward.mean", "reward", reward}, {"response.length", "response_length", length}}});
    }
    std::string all;
    for (const Incident& incident : run.close()) {
      if (incident.kind == "length-collapse" && incident.severity != Severity::kInfo) all += incident.summary + ";";
    }
    return all;
  };
  CHECK(said(300, 9) == "Mean response length fell from 300 to 9 tokens since step 40;");
  CHECK(contains(said(300, 100), " to 300 tokens since step 31, and to 100 by step 40;"));
}

TEST_CASE("a step that ends within the scheduler's notice does not hide its reason") {
  PlantedRun run;
  run.add("slurm-time-limit", "interrupted", Role::kRoot, Severity::kCritical, true, "restart-run-from-checkpoint");
  run.steps(1, 5);
  run.matched("slurm-time-limit");
  --run.line;
  event::Ended ended;
  ended.how = event::Ended::How::kInterrupted;
  ended.text = "CANCELLED DUE TO TIME LIMIT";
  run.say(std::move(ended));
  run.steps(6, 6);
  const auto incidents = run.close();
  CHECK(has(incidents, "interrupted", "slurm-time-limit"));
  CHECK_FALSE(has(incidents, "interrupted", "user-cancelled"));
}

TEST_CASE("of a scheduler's lines the one with its reason is quoted") {
  PlantedRun run;
  run.add("slurm-cancelled", "interrupted", Role::kRoot, Severity::kWarning, true, "restart-run-from-checkpoint");
  run.add("slurm-time-limit", "interrupted", Role::kRoot, Severity::kCritical, true, "restart-run-from-checkpoint");
  run.steps(1, 5);
  run.matched("slurm-cancelled");
  run.matched("slurm-time-limit");
  const auto incidents = run.close();
  REQUIRE(has(incidents, "interrupted", "slurm-time-limit"));
  for (const Incident& incident : incidents) {
    if (incident.kind == "interrupted") CHECK(contains(incident.summary, "outside: slurm-time-limit text"));
  }
}

TEST_CASE("requests that fail while no step comes are a warning once that has lasted, and none while steps come") {
  const auto severity = [](int minutes, bool trains) {
    PlantedRun run;  // a line a minute
    run.add("requests-fail", "engine-dead", Role::kSymptom, Severity::kCritical, false, "restart-run-from-checkpoint");
    for (int64_t step = 1; step <= 20; ++step) {
      run.steps(step, step);
      run.say(event::Ticked{});
    }
    for (int minute = 0; minute < minutes; minute += 2) {
      for (int i = 0; i < 5; ++i, --run.line) run.matched("requests-fail");
      run.talk(1);
      run.say(event::Ticked{});
      if (trains) run.steps(21 + minute, 21 + minute);
    }
    for (const Incident& one : judge(run.state, run.knowledge)) {
      if (one.kind == "engine-dead") return one.severity;
    }
    return Severity::kCritical;
  };
  CHECK(severity(2, false) == Severity::kInfo);
  CHECK(severity(8, false) == Severity::kWarning);
  CHECK(severity(8, true) == Severity::kInfo);
}

TEST_CASE("a loss that is no number on one rank, to its end, counts though the files of the others go on") {
  PlantedRun run;
  run.say(event::Planned{300});
  for (uint32_t rank = 1; rank <= 2; ++rank) {
    for (int64_t step = 1; step <= 60; ++step) {
      const double loss = rank == 2 && step >= 40 ? std::nan("") : 0.5 + 0.001 * static_cast<double>(step % 7);
      fold(run.state,
           {{}, {rank, static_cast<uint64_t>(step)}, event::Measured{step, false, {{"loss.total", "loss", loss}}}});
    }
  }
  const auto incidents = run.close();
  REQUIRE(!incidents.empty());
  CHECK(incidents[0].kind == "non-finite");
  CHECK(incidents[0].onset.step == 40);
}

TEST_CASE("a status of failure stands whether the file that has it is read before or after the word of being done") {
  for (const bool status_first : {true, false}) {
    PlantedRun run;
    run.steps(1, 20);
    const auto say = [&run](uint32_t source, event::Ended ended) {
      fold(run.state, {{}, {source, 90}, std::move(ended)});
    };
    if (status_first) say(2, {event::Ended::How::kExit, 1, "exit status"});
    say(1, {event::Ended::How::kComplete, 0, "done"});
    if (!status_first) say(2, {event::Ended::How::kExit, 1, "exit status"});
    REQUIRE(run.state.attempts.back().ended);
    CHECK(run.state.attempts.back().ended->code == 1);
  }
}

}  // namespace mw
