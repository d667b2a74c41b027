#include "core/overwrites.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "core/attempts.h"
#include "core/checkpoint_trust.h"
#include "core/resume_advice.h"
#include "core/said_run_for_test.h"
#include "core/shipments.h"
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
  run.steps(1, 14);
  REQUIRE(run.anew() != nullptr);
  CHECK(run.anew()->severity == Severity::kWarning);  // nothing is lost but time, and it may yet say that it resumes
  CHECK_FALSE(run.is_ended());
  run.steps(15, 15);
  REQUIRE(run.anew() != nullptr);
  CHECK(run.anew()->severity == Severity::kCritical);
  CHECK(
      run.anew()->summary ==
      "Attempt 2 began at step 1 although attempt 1 had reached step 23 and had saved checkpoints, which it would save "
      "over");
  CHECK(run.is_ended());
  CHECK_FALSE(breaker(run.state, true).incident != nullptr);
  run.steps(16, 40);
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
    run.steps(1, 15);
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
      run.steps(1, 15);
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

/// A script that trains one model, and then, within the same command, another one, which fails before its first save.
Run two_stages(const char* first_folder, const char* second_folder) {
  Run run;
  if (first_folder != nullptr) run.say(event::Configured{"save_folder", first_folder});
  run.say(event::Planned{20});
  run.steps(1, 20);
  const std::string path = "/c/global_step_20";
  run.say(event::CheckpointSaved{20, path, false});
  run.say(event::AttemptBegan{"Total training steps: 20"});
  if (second_folder != nullptr) run.say(event::Configured{"save_folder", second_folder});
  run.say(event::Planned{20});
  run.steps(1, 4);
  run.say(event::CheckpointSeen{20, path, Seen::kWhole, "", "", 100, 2, ""}, 1);  // found once the second one trains
  run.begins_again();
  return run;
}

TEST_CASE("a second training of a command is no restart of the first, which finished") {
  SUBCASE("where it saves is not known") {
    Run run = two_stages(nullptr, nullptr);
    run.say(event::Planned{20});
    run.steps(1, 2);
    CHECK_FALSE(run.is_ended());
    REQUIRE(run.anew() != nullptr);  // four steps of its own, and none of them saved
    CHECK(run.anew()->severity == Severity::kInfo);
    CHECK(run.anew()->summary ==
          "Attempt 2 began at step 1 although attempt 1 had reached step 4; no save was seen in it");
  }
  SUBCASE("elsewhere") {
    Run run = two_stages("/c", "/d");
    run.say(event::Configured{"save_folder", "/d"});
    run.steps(1, 2);
    CHECK_FALSE(run.is_ended());
  }
  SUBCASE("where the first one saved") {
    Run run = two_stages("/c", "/c");
    run.say(event::Configured{"save_folder", "/c"});
    run.steps(1, 15);
    CHECK(run.is_ended());
  }
  SUBCASE("a save of its own is one to lose") {
    Run run = two_stages(nullptr, nullptr);
    run.say(event::Planned{20});
    run.steps(1, 10);
    run.saves(10);
    run.begins_again();
    run.steps(1, 7);
    CHECK(run.is_ended());
  }
  SUBCASE("the first one was itself tried twice") {
    Run run;
    run.say(event::Planned{20});
    run.steps(1, 12);
    run.saves(10);
    run.begins_again();
    run.say(event::Resumed{10, "/c/global_step_10"});
    run.steps(11, 20);
    run.say(event::AttemptBegan{"Total training steps: 30"});
    run.say(event::Planned{30});
    run.steps(1, 4);
    run.begins_again();
    run.say(event::Planned{30});
    run.steps(1, 2);
    CHECK_FALSE(run.is_ended());
  }
}

/// A run of another machine goes on here: its checkpoint of step 30 was received.
struct GoesOn : SaidRun {
  explicit GoesOn(std::string_view what, const char* framework = "verl") {
    state.framework = framework;
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
    say(event::CheckpointSeen{30, "/c/global_step_30", Seen::kWhole, std::string(what), "", 0, 0, ""}, 1);
    say(event::AttemptBegan{std::string(kKeeperBegan)});
  }
  void steps(int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; ++step) say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
  }
  const Incident* anew() const {
    for (const Incident& incident : state.incidents)
      if (incident.kind == "restart-from-scratch") return &incident;
    return nullptr;
  }
  bool is_ended() const {
    return breaker(state).why == BreakReason::kFromScratch && breaker(state).incident != nullptr;
  }
  bool ships(int64_t step) {
    say(event::CheckpointSaved{step, cat("/c/global_step_", step), true});
    say(event::CheckpointSeen{step, cat("/c/global_step_", step), Seen::kWhole, "", "", 100, 2, ""}, 1);
    return next_shipment(state, [](const std::string&) { return false; }).has_value();
  }
};

TEST_CASE("the first attempt is ended where it begins from nothing beside the checkpoint that it was to go on from") {
  SUBCASE("where the command saves") {
    GoesOn run(kToGoOnFrom);
    CHECK(run.state.attempts.size() == 1);
    run.steps(1, 2);
    CHECK_FALSE(run.is_ended());
    run.steps(3, 3);
    REQUIRE(run.anew() != nullptr);
    CHECK(run.anew()->severity == Severity::kCritical);
    CHECK(run.anew()->summary ==
          "Attempt 1 began at step 1 although the checkpoint of step 30 was there to go on from (/c/global_step_30), "
          "which it would save over");
    CHECK(run.is_ended());
    CHECK(breaker(run.state, true).incident == nullptr);
    CHECK_FALSE(run.ships(10));
  }
  SUBCASE("elsewhere nothing is saved over, and nothing is shipped") {
    GoesOn run(kToGoOnFromElsewhere);
    run.steps(1, 2);
    CHECK_FALSE(run.is_ended());
    REQUIRE(run.anew() != nullptr);
    CHECK(run.anew()->severity == Severity::kWarning);
    CHECK_FALSE(run.ships(45));
  }
  SUBCASE("its own word of where it saves counts for more") {
    GoesOn there(kToGoOnFromElsewhere);
    there.say(event::Configured{"save_folder", "/c"});
    there.steps(1, 3);
    CHECK(there.is_ended());
    GoesOn elsewhere(kToGoOnFrom);
    elsewhere.say(event::Configured{"save_folder", "/d"});
    elsewhere.steps(1, 3);
    CHECK_FALSE(elsewhere.is_ended());
  }
}

TEST_CASE("an attempt that goes on from what was there, or may have done so without a word, is left alone") {
  GoesOn resumed(kToGoOnFrom);
  resumed.say(event::Resumed{30, "/c/global_step_30"});
  resumed.steps(31, 32);
  CHECK_FALSE(resumed.is_ended());
  CHECK(resumed.anew() == nullptr);
  CHECK(resumed.ships(40));
  GoesOn silent(kToGoOnFrom);
  silent.steps(31, 32);
  CHECK(silent.anew() == nullptr);
  GoesOn own(kToGoOnFrom, "custom");  // counts anew, for all that is known of it
  own.steps(1, 2);
  CHECK_FALSE(own.is_ended());
  GoesOn nameless(kToGoOnFrom, "trl");
  nameless.steps(1, 2);
  CHECK_FALSE(nameless.is_ended());
  GoesOn nothing_shipped(kToGoOnFrom);
  nothing_shipped.steps(31, 31);
  CHECK_FALSE(next_shipment(nothing_shipped.state, [](const std::string&) { return false; }).has_value());
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
  run.steps(1, 15);
  CHECK(run.is_ended());
}

TEST_CASE("a first attempt that fine-tunes before it resumes is left alone until it saves where the other lies") {
  GoesOn run(kToGoOnFrom);
  const auto tunes = [&run](int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; ++step)
      run.say(event::Measured{step, false, {{"loss.total", "train/loss", 1}}});
  };
  tunes(1, 40);
  CHECK_FALSE(run.is_ended());
  CHECK_FALSE(run.ships(10));
  SUBCASE("it resumes") {
    run.say(event::AttemptBegan{"Total training steps: 60"});
    run.say(event::Resumed{30, "/c/global_step_30"});
    run.steps(31, 40);
    CHECK_FALSE(run.is_ended());
    CHECK(run.ships(40));
  }
  SUBCASE("it saves there") {
    run.say(event::CheckpointSaved{40, "/c/global_step_40", false});
    tunes(41, 41);
    CHECK(run.is_ended());
  }
}

}  // namespace
}  // namespace mw
