#include "core/stages.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "base/text.h"
#include "core/attempts.h"
#include "core/checkpoint_trust.h"
#include "core/said_run_for_test.h"
#include "core/supervise/breaker.h"

namespace mw {
namespace {

/// A command that does something first (`name` are its figures), and then trains with rewards, saves and dies.
struct Run : SaidRun {
  Run() {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
    say(event::AttemptBegan{std::string(kKeeperBegan)});
  }
  void steps(int64_t from, int64_t to, std::initializer_list<const char*> names) {
    for (int64_t step = from; step <= to; ++step) {
      event::Measured measured{step, false, {}};
      for (const char* name : names) measured.readings.push_back({"", name, 0.5});
      say(std::move(measured));
    }
  }
  void saves(int64_t step) {
    const std::string path = cat("/c/global_step_", step);
    say(event::CheckpointSaved{step, path, false});
    say(event::CheckpointSeen{step, path, event::CheckpointSeen::How::kWhole, "", "", 100, 2, ""}, 1);
  }
  void trains() {
    steps(1, 10, {"loss", "reward"});
    saves(10);
    steps(11, 20, {"loss", "reward"});
    saves(20);
    steps(21, 24, {"loss", "reward"});
  }
  bool is_ended() const { return breaker(state).incident != nullptr; }
  bool is_blamed() const {
    for (const Incident& incident : state.incidents)
      if (incident.kind == "restart-from-scratch" && incident.severity != Severity::kInfo) return true;
    return false;
  }
};

TEST_CASE("an attempt that begins as the first one did, with what came before the training, is no start from scratch") {
  for (const auto first : {std::initializer_list<const char*>{"train/loss", "train/lr"}, {"loss"}}) {
    Run run;
    run.steps(1, 15, first);
    run.trains();
    REQUIRE(run.state.attempts.size() == 2);
    run.begins_again();
    run.steps(1, 15, first);
    CHECK_FALSE(run.is_ended());
    CHECK_FALSE(run.is_blamed());
    SUBCASE("then it resumes") {
      run.say(event::Resumed{20, "/c/global_step_20"});
      run.steps(21, 40, {"loss", "reward"});
      CHECK_FALSE(run.is_ended());
      CHECK_FALSE(run.is_blamed());
    }
    SUBCASE("then it resumes without a word") {
      run.steps(21, 24, {"loss", "reward"});
      CHECK(counter_resumes(run.state, 2));
      CHECK_FALSE(run.is_ended());
      CHECK_FALSE(run.is_blamed());
    }
    SUBCASE("then it trains from the first step on") {
      run.say(event::AttemptBegan{"Total training steps: 60"});
      run.steps(1, 8, {"loss", "reward"});
      CHECK(run.is_blamed());
    }
  }
}

TEST_CASE("a command whose first part was skipped, and that trains from its first step on, is ended") {
  Run run;
  run.steps(1, 15, {"train/loss"});
  run.trains();
  run.begins_again();
  run.steps(1, 6, {"loss", "reward"});
  CHECK(run.is_blamed());
  CHECK_FALSE(run.is_ended());  // nothing is saved over yet
  run.steps(7, 7, {"loss", "reward"});
  CHECK(run.is_ended());
}

TEST_CASE("a counter shows that an attempt resumed: it goes right behind a save, or counts what is left of the plan") {
  SUBCASE("behind a save") {
    Run run;
    run.steps(1, 2, {"loss", "reward"});
    run.trains();
    run.begins_again();
    run.steps(1, 2, {"loss", "reward"});
    CHECK_FALSE(counter_resumes(run.state, 1));
    run.steps(21, 23, {"loss", "reward"});
    CHECK(counter_resumes(run.state, 1));
    CHECK_FALSE(run.is_ended());
    CHECK_FALSE(run.is_blamed());
  }
  SUBCASE("what is left") {
    Run run;
    run.say(event::Planned{60});
    run.trains();
    run.begins_again();
    run.say(event::Planned{40});
    run.steps(1, 15, {"loss", "reward"});
    CHECK(counter_resumes(run.state, 1));
    CHECK_FALSE(run.is_ended());
  }
  SUBCASE("the whole plan, or what is left behind the first save") {
    Run run;
    run.say(event::Planned{60});
    run.trains();
    run.begins_again();
    run.say(event::Planned{50});
    run.steps(1, 9, {"loss", "reward"});
    CHECK(counter_resumes(run.state, 1));  // as many as behind the save of step 10
    Run all;
    all.say(event::Planned{60});
    all.trains();
    all.begins_again();
    all.say(event::Planned{60});
    all.steps(1, 9, {"loss", "reward"});
    CHECK_FALSE(counter_resumes(all.state, 1));
    CHECK(all.is_ended());
  }
}

}  // namespace
}  // namespace mw
