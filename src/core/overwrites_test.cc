#include "core/overwrites.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "core/attempts.h"
#include "core/checkpoint_trust.h"
#include "core/resume_advice.h"
#include "core/said_run_for_test.h"
#include "core/supervise/breaker.h"

namespace mw {
namespace {

using Seen = event::CheckpointSeen::How;

/// A trainer as verl is: it says that a save begins, and only the disk shows that it is whole.
struct Run : SaidRun {
  Run() {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
    say(event::AttemptBegan{std::string(kKeeperBegan)});
  }
  void steps(int64_t from, int64_t to, int64_t stride = 1, int64_t ahead = 0) {
    for (int64_t step = from; step <= to; step += stride) {
      say(event::Measured{
          step,
          false,
          {{"reward.mean", "r", 0.5}, {"", "data/num_tokens", 1000.0 * static_cast<double>(step + ahead)}}});
    }
  }
  void saves(int64_t step, Seen how = Seen::kWhole) {
    const std::string path = cat("/c/global_step_", step);
    say(event::CheckpointSaved{step, path, false});
    say(event::CheckpointSeen{step, path, how, "", "", 100, 2, ""}, 1);
  }
  void begins_again() {
    ActionState restart;
    restart.attempt = static_cast<uint16_t>(state.attempts.size() - 1);
    restart.intent.action = "restart";
    state.actions.push_back(restart);
    say(event::Ended{event::Ended::How::kExit, 3, "exit status 3"});
    say(event::AttemptBegan{std::string(kKeeperBegan)});
  }
  void decides(const std::string& plan) {
    SupervisedAttempt attempt;
    attempt.number = static_cast<int64_t>(state.attempts.size());
    attempt.decided = true;
    attempt.plan = plan;
    state.supervision.attempts.push_back(attempt);
  }
  const Incident* anew() const {
    for (const Incident& incident : state.incidents)
      if (incident.kind == "restart-from-scratch") return &incident;
    return nullptr;
  }
  bool is_ended() const {
    return breaker(state).why == BreakReason::kFromScratch && breaker(state).incident != nullptr;
  }
};

Run saved_and_died() {
  Run run;
  run.steps(1, 20);
  run.saves(20);
  run.steps(21, 23);
  return run;
}

TEST_CASE("what begins anew beside a save that only the disk shows to be whole is ended, and nothing makes that good") {
  Run run = saved_and_died();
  run.begins_again();
  run.steps(1, 1);
  REQUIRE(run.anew() != nullptr);
  CHECK(run.anew()->severity == Severity::kCritical);
  CHECK(
      run.anew()->summary ==
      "Attempt 2 began at step 1 although attempt 1 had reached step 23 and had saved checkpoints, which it would save "
      "over");
  CHECK(run.is_ended());
  CHECK_FALSE(breaker(run.state, true).incident != nullptr);
  run.steps(2, 40);
  CHECK(run.anew()->open);
}

TEST_CASE("a save that is broken, or that never was whole, is none to lose") {
  Run run;
  run.steps(1, 20);
  run.saves(20, Seen::kBroken);
  run.begins_again();
  run.steps(1, 2);
  CHECK_FALSE(run.is_ended());
  CHECK_FALSE(left_whole(run.state, 1));
  Run first;
  first.steps(1, 20);
  first.saves(20);
  CHECK_FALSE(would_overwrite(first.state, 0));
  CHECK(left_whole(first.state, 1));
  CHECK(left_whole(first.state, 1, 20));
  CHECK_FALSE(left_whole(first.state, 1, 19));
  CHECK_FALSE(left_whole(first.state, 0));
}

TEST_CASE("one that logs every tenth step shows by its first one that it began before all that was saved") {
  Run run;
  run.steps(10, 40, 10);
  run.saves(20);
  run.saves(40);
  run.begins_again();
  run.steps(10, 10);
  CHECK(run.is_ended());
  Run silent;  // resumes from 20 without a word
  silent.steps(10, 40, 10);
  silent.saves(20);
  silent.saves(40);
  silent.begins_again();
  silent.steps(30, 30);
  CHECK_FALSE(silent.is_ended());
}

TEST_CASE("an attempt that resumed and only counts anew goes on") {
  SUBCASE("it says so, and not from where") {
    Run run = saved_and_died();
    run.begins_again();
    run.say(event::Resumed{kNoStep, "/c/last"});
    run.steps(1, 2);
    CHECK_FALSE(run.is_ended());
  }
  SUBCASE("every attempt says that it loads a model") {
    Run run;
    run.say(event::Resumed{kNoStep, "/models/base"});
    run.steps(1, 20);
    run.saves(20);
    run.begins_again();
    run.say(event::Resumed{kNoStep, "/models/base"});
    run.steps(1, 2);
    CHECK(run.is_ended());
  }
  SUBCASE("what it counts over all attempts goes on") {
    Run run = saved_and_died();
    run.begins_again();
    run.steps(1, 2, 1, 20);
    CHECK_FALSE(run.is_ended());
    REQUIRE(run.anew() != nullptr);
    CHECK(run.anew()->severity == Severity::kWarning);
  }
}

TEST_CASE("an attempt that saves elsewhere, is allowed to begin anew, or finds nothing left goes on") {
  SUBCASE("elsewhere") {
    for (const char* first : {"/c", "./outputs/10-20-30"}) {  // the other one is no folder of checkpoints
      Run run;
      run.say(event::Configured{"save_folder", first});
      run.steps(1, 20);
      run.saves(20);
      run.begins_again();
      run.say(event::Configured{"save_folder", "./outputs/10-40-00"});
      run.steps(1, 2);
      CHECK(run.is_ended() == (std::string_view(first) != "/c"));
    }
  }
  SUBCASE("allowed") {
    Run run = saved_and_died();
    run.decides(R"({"from_scratch":true})");
    run.begins_again();
    run.steps(1, 2);
    CHECK_FALSE(would_overwrite(run.state, 1));
    REQUIRE(run.anew() != nullptr);
    CHECK(run.anew()->severity == Severity::kWarning);
  }
  SUBCASE("all was moved away") {
    Run run = saved_and_died();
    run.decides(R"({"quarantine":{"roots":["/c"],"from":20,"plans":[{"root":"/c"}]}})");
    run.begins_again();
    run.steps(1, 2);
    CHECK_FALSE(would_overwrite(run.state, 1));
  }
  SUBCASE("some of it was") {
    Run run = saved_and_died();
    run.decides(R"({"quarantine":{"roots":["/c"],"from":21,"plans":[{"root":"/c"}]}})");
    run.begins_again();
    run.steps(1, 2);
    CHECK(would_overwrite(run.state, 1));
  }
}

TEST_CASE("the newest attempt that begins anew counts, not the first, of which nothing was saved") {
  Run run;
  run.steps(1, 12);
  run.begins_again();
  run.steps(1, 12);
  CHECK_FALSE(run.is_ended());
  run.steps(13, 20);
  run.saves(20);
  run.begins_again();
  run.steps(1, 1);
  CHECK(run.is_ended());
}

}  // namespace
}  // namespace mw
