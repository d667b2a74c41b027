// What a run lives with is no trouble of it.
#include <doctest/doctest.h>

#include "base/text.h"
#include "core/planted_run_for_test.h"

namespace mw {

TEST_CASE("what is refused each time and was lived through before ended nothing, unless the run says that it failed") {
  for (const int64_t code : {0, 1}) {
    CAPTURE(code);
    PlantedRun run;
    run.add("gated-model", "credentials", Role::kRoot, Severity::kCritical, false, "stop-and-notify");
    run.say(event::Planned{60});
    for (int64_t step = 1; step <= 6; ++step) {
      run.matched("gated-model");
      run.steps(step, step);
    }
    run.matched("gated-model");
    if (code != 0) {
      event::Ended ended;
      ended.how = event::Ended::How::kExit;
      ended.code = code;
      run.say(std::move(ended));
    }
    CHECK(notable(run.close()) == (code == 0 ? "died-silently/user-cancelled" : "credentials/gated-model"));
  }
}

TEST_CASE("a learning rate in the middle of its way to zero is a plan that is open") {
  for (const int64_t last : {40, 95}) {
    CAPTURE(last);
    PlantedRun run;
    for (int64_t step = 1; step <= last; ++step) {
      const double rate = 1e-6 * static_cast<double>(100 - step) / 100;
      run.say(event::Measured{
          step,
          false,
          {{"loss.total", "loss", 0.5 + 0.01 * static_cast<double>(step % 7)}, {"lr", "learning_rate", rate}}});
    }
    CHECK(notable(run.close()) == (last == 40 ? "died-silently/user-cancelled" : ""));
  }
}

TEST_CASE("saves whose numbers count otherwise than the run's steps are overdue by the run's steps") {
  for (const int64_t often : {8, 1}) {  // batches to a numbered step
    CAPTURE(often);
    PlantedRun run;
    for (int64_t number = 4; number <= 20; number += 4) {
      run.steps((number - 4) * often + 1, number * often);
      run.saved(number);
    }
    run.steps(20 * often + 1, 22 * often);
    CHECK(notable(run.close()) == "");
  }
}

TEST_CASE("a traceback that was cut before its exception has the kind of what was said beside it") {
  for (const bool said : {true, false}) {
    CAPTURE(said);
    PlantedRun run;
    run.steps(1, 10);
    if (said) run.matched("ray-actor-died");
    run.trace("", "");
    CHECK(run.close()[0].kind == (said ? "worker-lost" : "crash"));
  }
}

TEST_CASE("a server that came up again survived what had ended it, in its own log alone") {
  for (const std::string_view framework : {"vllm", "verl"}) {
    for (const bool up : {true, false}) {
      CAPTURE(std::string(framework));
      CAPTURE(up);
      PlantedRun run;
      run.add("server-is-up", "engine-dead", Role::kBenign, Severity::kInfo, false, "ignore");
      run.knowledge.engines.emplace_back();
      run.knowledge.engines.back().name = "vllm";
      run.state.framework = framework;
      run.matched("server-is-up");
      run.matched("vllm-enginecore-fatal");
      if (up) run.matched("server-is-up");
      const auto incidents = run.close();
      REQUIRE(incidents.size() == 1);
      CHECK(incidents[0].kind == "engine-dead");
      CHECK(incidents[0].open == !(up && framework == "vllm"));
    }
  }
}

TEST_CASE("waiting for a server is over once one is up, in a trainer's log, too") {
  for (const bool up : {true, false}) {
    CAPTURE(up);
    PlantedRun run;
    run.add("server-is-up", "engine-dead", Role::kBenign, Severity::kInfo, false, "ignore");
    run.add("server-waited-for", "engine-dead", Role::kSymptom, Severity::kWarning, false, "ignore");
    run.state.framework = "prime-rl";
    for (int i = 0; i < 6; ++i) run.matched("server-waited-for");
    if (up) run.matched("server-is-up");
    const auto incidents = run.close();
    REQUIRE(incidents.size() == 1);
    CHECK((incidents[0].severity > Severity::kInfo) == !up);
    CHECK(incidents[0].open == !up);
  }
}

TEST_CASE("a run that saved nothing begins anew without a warning, and nothing is said of a checkpoint") {
  PlantedRun run;
  run.steps(1, 6);
  run.restart();
  run.steps(1, 4);
  const auto incidents = run.close();
  const auto anew = std::find_if(incidents.begin(), incidents.end(),
                                 [](const Incident& one) { return one.kind == "restart-from-scratch"; });
  REQUIRE(anew != incidents.end());
  CHECK(anew->severity == Severity::kInfo);
  CHECK(contains(anew->summary, "no save was seen in it"));
  for (const RankedCause& cause : anew->causes) CHECK(cause.reasons_for.empty());
}

TEST_CASE("the next training of a pipeline is no restart of the one before, the same one again is") {
  for (const char* second : {"Starting GRPO training", "Starting SFT Training"}) {
    CAPTURE(std::string(second));
    PlantedRun run;
    run.say(event::AttemptBegan{"Starting SFT training"});
    run.steps(1, 20);
    run.say(event::Ended{event::Ended::How::kComplete, 0, "train_runtime"});
    run.say(event::AttemptBegan{second});
    run.steps(1, 10);
    const auto incidents = run.close();
    const bool restarted = std::any_of(incidents.begin(), incidents.end(),
                                       [](const Incident& one) { return one.kind == "restart-from-scratch"; });
    CHECK(restarted == (std::string_view(second) == "Starting SFT Training"));
  }
}

TEST_CASE("a run that is complete and was given nothing but zero is reported, however seldom it logged") {
  for (const bool complete : {true, false}) {
    for (const double last : {0.0, 0.2}) {
      CAPTURE(complete);
      CAPTURE(last);
      PlantedRun run;
      run.say(event::Planned{20});
      run.steps(10, 10, 0);
      run.steps(20, 20, last);
      if (complete) run.say(event::Ended{event::Ended::How::kComplete, 0, "train_runtime"});
      const auto incidents = run.close();
      const bool zero = std::any_of(incidents.begin(), incidents.end(), [](const Incident& one) {
        return one.kind == "zero-reward" && one.severity > Severity::kInfo;
      });
      CHECK(zero == (complete && last == 0));
    }
  }
}

}  // namespace mw
