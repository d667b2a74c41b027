#include "core/detect/support/still_answered.h"

#include <doctest/doctest.h>

#include "core/attempts.h"
#include "core/detect/support/service_words.h"
#include "core/said_run_for_test.h"
#include "core/supervise/breaker.h"
#include "core/supervise/decide.h"

namespace mw {
namespace {

struct Run : SaidRun {
  Run() {
    Signature died;
    died.id = "engine-died";
    died.kind = "engine-dead";
    died.layer = "vllm";
    died.severity = Severity::kCritical;
    died.role = Role::kRoot;
    knowledge.signatures.push_back(died);

    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::AttemptBegan{std::string(kKeeperBegan)});
  }
  void steps(int64_t from, int64_t to, double reward, double length) {
    for (int64_t step = from; step <= to; ++step)
      say(event::Measured{step, false, {{"reward.mean", "r", reward}, {"response.length", "l", length}}});
  }
  void calls_engine_dead() {
    event::Matched line;
    line.signature = "engine-died";
    line.text = "engine died";
    line.count = 1;
    say(line);
  }
  bool is_ended() const {
    RunSpec spec;
    spec.breaking_learning = Mode::kAct;
    return decide_break(state, spec, 1).decision.what == Decision::What::kAct;
  }
};

TEST_CASE("an engine that a line calls dead lives where answers of the usual length still come") {
  for (const bool answers : {true, false}) {
    CAPTURE(answers);
    Run run;
    run.steps(1, 30, 0.2, 500);
    run.calls_engine_dead();
    run.steps(31, 32, 0, answers ? 480 : 0);
    CHECK_FALSE(detect::still_answered(run.state, 0, 30));  // they may have been there before
    run.steps(33, 37, 0, answers ? 480 : 0);
    CHECK(detect::still_answered(run.state, 0, 30) == answers);
    CHECK(run.is_ended() == !answers);
  }
}

TEST_CASE("nothing ends or pauses a run whose newest reward is above the floor") {
  Run run;
  run.steps(1, 30, 0.2, 500);
  run.steps(31, 52, 0, 500);
  CHECK(run.is_ended());
  CHECK_FALSE(has_left_floor(run.state));
  run.steps(53, 53, 0.3, 500);
  CHECK(has_left_floor(run.state));
  CHECK_FALSE(run.is_ended());
  run.steps(54, 54, 0, 500);
  CHECK(run.is_ended());
}

TEST_CASE("zeros that come with the errors of a judge are grave at once, and the judge is blamed") {
  for (const bool judge : {true, false}) {
    CAPTURE(judge);
    Run run;
    run.steps(1, 24, 0.4, 500);
    run.steps(25, 25, 0, 500);
    for (int64_t step = 26; step <= 31; ++step) {
      if (judge) {
        event::Logged error;
        error.level = event::Logged::Level::kError;
        error.text = "judge request failed: Connection refused, score = 0";
        error.count = static_cast<uint64_t>(step - 25);  // so far
        run.say(error);
      }
      run.steps(step, step, 0, 500);
    }
    CHECK(run.is_ended() == judge);
    const Incident* zero = nullptr;
    for (const Incident& incident : run.state.incidents)
      if (incident.kind == "zero-reward") zero = &incident;
    REQUIRE(zero != nullptr);
    REQUIRE_FALSE(zero->causes.empty());
    CHECK((zero->causes.front().id == "judge-api-error") == judge);
  }
  REQUIRE(detect::service_of("the judge timed out") != nullptr);
  CHECK(detect::service_of("the judge timed out")->cause == "judge-api-error");
  CHECK(detect::service_of("wandb failed: https://api.wandb.ai") == nullptr);
}

}  // namespace
}  // namespace mw
