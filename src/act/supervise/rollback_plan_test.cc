#include "act/supervise/rollback_plan.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "base/text.h"
#include "core/said_run_for_test.h"
#include "platform/durable.h"
#include "sense/checkpoints/quarantine_for_test.h"

namespace mw {
namespace {

Rollback to_40(QuarantineFolder& f, const std::vector<int64_t>& steps) {
  Rollback back;
  back.from = 41;
  back.plans = {plan_of(f, steps, 40)};
  return back;
}

TEST_CASE("a rollback that only sets the pointer says so") {
  QuarantineFolder f;
  f.checkpoint("global_step_40");
  f.put("latest_checkpointed_iteration.txt", "50\n");
  const auto done = roll_back(*f.disk, kVerl, to_40(f, {}), of_run("/home/runs/a"), nullptr);
  REQUIRE(done.ok());
  CHECK_MESSAGE(
      done->find(cat(f.root, "/latest_checkpointed_iteration.txt said 50 and says 40 now")) != std::string::npos,
      *done);
  CHECK_MESSAGE(done->find("no checkpoint is moved") != std::string::npos, *done);
  CHECK(f.content("latest_checkpointed_iteration.txt") == "40");
}

TEST_CASE("a rollback that moves checkpoints says what becomes of the pointer, too") {
  QuarantineFolder f;
  f.checkpoint("global_step_40");
  f.checkpoint("global_step_50");
  f.put("latest_checkpointed_iteration.txt", "50");
  const auto done = roll_back(*f.disk, kVerl, to_40(f, {50}), of_run("/home/runs/a"), nullptr);
  REQUIRE(done.ok());
  CHECK_MESSAGE(done->starts_with("moved the checkpoints of step 50 to "), *done);
  CHECK_MESSAGE(done->find("said 50 and says 40 now; step 40 is the newest now") != std::string::npos, *done);
  QuarantineFolder other;  // a pointer that names what stays is left alone, and nothing is said of it
  other.checkpoint("global_step_40");
  other.checkpoint("global_step_50");
  other.put("latest_checkpointed_iteration.txt", "40");
  const auto left = roll_back(*other.disk, kVerl, to_40(other, {50}), of_run("/home/runs/a"), nullptr);
  REQUIRE(left.ok());
  CHECK_MESSAGE(left->find("latest_checkpointed") == std::string::npos, *left);
}

/// A run that says that it saved steps 10 to 40, in a folder where somebody else saves, too.
Ownership saved_by_tens(const QuarantineFolder& f) {
  Ownership own;
  own.has_snapshot = true;
  own.snapshot.folders[f.root];
  own.lives = {{Time::from_seconds(1), Time()}};
  own.logged = own.said = {10, 20, 30, 40};
  own.steps = {{1, 45}};
  own.declared = {f.root};
  own.places = {f.root};
  return own;
}

std::string trouble_with(QuarantineFolder& f, const Ownership& own, Rollback back = {}) {
  const std::vector<std::string> roots{f.root};
  const std::optional<LastWhole> way;
  const auto plan = plan_rollback(*f.disk, {own, kVerl, roots, way, false, "x"}, std::move(back));
  REQUIRE(plan.ok());
  return plan->trouble;
}

void point(QuarantineFolder& f, std::string_view text) {
  REQUIRE(write_durably(*f.disk, cat(f.root, "/latest_checkpointed_iteration.txt"), text).ok());
}

TEST_CASE("the trainer is not let resume from what another run saved into the same folder") {
  QuarantineFolder f;
  f.checkpoint("global_step_40");
  f.checkpoint("global_step_44");
  f.checkpoint("global_step_36");
  const Ownership own = saved_by_tens(f);
  point(f, "40");
  CHECK(trouble_with(f, own).empty());
  point(f, "44");
  CHECK(trouble_with(f, own) == cat("the pointer of ", f.root,
                                    " names the checkpoint of step 44, which this run's log does not name among its "
                                    "saves: another run saves there, too"));
  point(f, "36");
  CHECK_FALSE(trouble_with(f, own).empty());
  Rollback back;
  back.from = 45;
  CHECK_FALSE(trouble_with(f, own, back).empty());
  Ownership resumed = own;
  resumed.resumed = {36};
  CHECK(trouble_with(f, resumed).empty());
  point(f, "50");  // nothing is there: the trainer says so itself
  CHECK(trouble_with(f, own).empty());
}

TEST_CASE("no attempt begins where roles would be resumed from different steps") {
  QuarantineFolder f;
  const CheckpointLayout layout{"global_step_{step}", "latest", "{step}"};
  const std::vector<std::string> roots{cat(f.root, "/_actor"), cat(f.root, "/_critic")};
  for (const std::string root : {"_actor", "_critic"}) {
    for (const int step : {10, 20, 30, 40}) f.checkpoint(cat(root, "/global_step_", step));
    f.put(root + "/latest", "40");
  }
  Ownership own = saved_by_tens(f);
  own.snapshot.folders.clear();
  for (const std::string& root : roots) own.snapshot.folders[root];
  own.declared = {roots.begin(), roots.end()};
  std::optional<LastWhole> way = LastWhole();
  const auto plan_from = [&](int64_t from) {
    Rollback back;
    back.from = from;
    auto plan = plan_rollback(*f.disk, {own, layout, roots, way, false, "x"}, std::move(back));
    REQUIRE(plan.ok());
    return *plan;
  };
  CHECK_MESSAGE(plan_from(40).trouble.empty(), plan_from(40).trouble);
  CHECK(plan_from(40).back.plans.size() == 2);
  way->halves = {10, 20, 30, 40};
  CHECK(plan_from(10).from_nothing == false);
  way->halves.clear();
  CHECK(plan_from(10).from_nothing);
  // Only of one role is step 30 to be resumed from.
  event::CheckpointSeen& broken = way->seen.emplace_back();
  broken.path = cat(roots[1], "/global_step_30");
  broken.how = event::CheckpointSeen::How::kBroken;
  CHECK(plan_from(40).trouble == "_actor would resume from step 30 and _critic from step 20");
  CHECK(plan_from(40).back.plans.empty());
}

TEST_CASE("a pointer that is missing is set to what the run is to resume from") {
  QuarantineFolder f;
  for (const int step : {10, 20, 30, 40}) f.checkpoint(cat("global_step_", step));
  const std::vector<std::string> roots{f.root};
  std::optional<LastWhole> way = LastWhole();
  way->kept = 40;
  way->from = 41;
  const auto plan_with = [&](bool resume_given) {
    Rollback back;
    back.from = 41;
    auto plan = plan_rollback(*f.disk, {saved_by_tens(f), kVerl, roots, way, resume_given, "x"}, std::move(back));
    REQUIRE(plan.ok());
    return *plan;
  };
  CHECK(plan_with(false).back.plans.empty());  // nobody found that it was lost
  way->pointerless = {f.root};
  CHECK(plan_with(true).back.plans.empty());
  const RollbackPlan plan = plan_with(false);
  CHECK_MESSAGE(plan.trouble.empty(), plan.trouble);
  REQUIRE(plan.back.plans.size() == 1);
  const auto done = roll_back(*f.disk, kVerl, plan.back, of_run("/home/runs/a"), nullptr);
  REQUIRE(done.ok());
  CHECK_MESSAGE(contains(*done, "latest_checkpointed_iteration.txt was missing and says 40 now"), *done);
  CHECK(f.content("latest_checkpointed_iteration.txt") == "40");
}

namespace {

/// The newest checkpoint, of step 30, is broken.
LastWhole broken_at_30(const QuarantineFolder& f) {
  LastWhole way;
  way.from = 30;
  event::CheckpointSeen& broken = way.seen.emplace_back();
  broken.path = cat(f.root, "/global_step_30");
  broken.how = event::CheckpointSeen::How::kBroken;
  return way;
}

}  // namespace

TEST_CASE("a pointer to what is broken is set to the newest whole one, and nothing is moved") {
  for (const std::string text : {"30", "best_step"}) {
    QuarantineFolder f;
    for (const int step : {20, 30, 40}) f.checkpoint(cat("global_step_", step));
    f.checkpoint("best_step");
    const std::vector<std::string> roots{f.root};
    point(f, text);
    std::optional<LastWhole> way = broken_at_30(f);
    way->from = 41;
    way->kept = 40;
    way->misled[f.root] = text;
    const auto plan_of = [&](const Ownership& own, bool resume_given) {
      auto plan = plan_rollback(*f.disk, {own, kVerl, roots, way, resume_given, "x"}, rollback_from(kNoStep, way));
      REQUIRE(plan.ok());
      return *plan;
    };
    CHECK(plan_of(saved_by_tens(f), true).back.plans.empty());
    Ownership others = saved_by_tens(f);
    others.lives.clear();
    CHECK_FALSE(plan_of(others, false).trouble.empty());
    const RollbackPlan plan = plan_of(saved_by_tens(f), false);
    CHECK_MESSAGE(plan.trouble.empty(), plan.trouble);
    CHECK_FALSE(plan.from_nothing);
    REQUIRE(plan.back.plans.size() == 1);
    Judgement judged;
    judged.back = plan.back;
    SupervisedAttempt attempt;
    attempt.plan = decided_event(1, judged).plan;
    const Rollback back = judgement_of(attempt).back;
    const auto done = roll_back(*f.disk, kVerl, back, of_run("/home/runs/a"), nullptr);
    REQUIRE(done.ok());
    CHECK_MESSAGE(contains(*done, cat("said ", text, " and says 40 now")), *done);
    CHECK(f.content("latest_checkpointed_iteration.txt") == "40");
    for (const int step : {20, 30, 40}) CHECK(f.content(cat("global_step_", step, "/model")) != "-");
    point(f, "20");  // somebody set it meanwhile
    CHECK(roll_back(*f.disk, kVerl, back, of_run("/home/runs/a"), nullptr).ok());
    CHECK(f.content("latest_checkpointed_iteration.txt") == "20");
  }
}

TEST_CASE("what a part of the trainer saved alone at its exit is out of the way, and nothing else between two saves") {
  const CheckpointLayout layout{"step_{step}", "", ""};
  const auto plan_with = [&](int64_t step, const char* file, int64_t seconds = 0) {
    QuarantineFolder f;
    for (const int one : {10, 20, 30, 40}) f.checkpoint(cat("step_", one));
    const std::string name = cat("step_", step);
    REQUIRE(f.disk->make_folders(cat(f.root, "/", name, "/orchestrator")).ok());
    f.put(cat(name, "/", file), "x");
    if (seconds > 0) CHECK(std::system(cat("touch -d @", seconds, " ", f.root, "/", name, "/", file).c_str()) == 0);
    Ownership own = saved_by_tens(f);
    own.steps = {{1, 43}};
    own.lives = {{Time::from_seconds(1000), Time()}};
    const std::vector<std::string> roots{f.root};
    std::optional<LastWhole> way = LastWhole();
    way->from = step;
    way->kept = 40;
    event::CheckpointSeen& broken = way->seen.emplace_back();
    broken.path = cat(f.root, "/", name);
    broken.how = event::CheckpointSeen::How::kBroken;
    const auto plan = plan_rollback(*f.disk, {own, layout, roots, way, false, "x"}, rollback_from(kNoStep, way));
    REQUIRE(plan.ok());
    CHECK(plan->trouble.empty() == !plan->back.plans.empty());
    return plan->trouble.empty() ? plan->back.plans[0].items.size() : 0;
  };
  CHECK(plan_with(43, "orchestrator/progress.pt") == 1);
  CHECK(plan_with(45, "orchestrator/progress.pt") == 1);  // it is ahead
  CHECK(plan_with(99, "orchestrator/progress.pt") == 0);
  CHECK(plan_with(43, "orchestrator/progress.pt", 500) == 0);  // before the run
  CHECK(plan_with(43, "model.safetensors") == 0);              // a save of somebody's
}

TEST_CASE("a run had whole checkpoints by what was found at any time, or by what its trainer did") {
  SaidRun run;
  run.say(event::SourceOpened{0, "train.log", "text", 0});
  run.say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
  for (int64_t step = 1; step <= 12; ++step) run.say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
  std::optional<LastWhole> way = LastWhole();
  CHECK_FALSE(had_whole(run.state, way));
  SaidRun cut = run;
  cut.say(event::CheckpointSaved{12, "/c/step_12", false});
  CHECK_FALSE(had_whole(cut.state, way));  // it died in its first save
  SaidRun past = run;
  past.state.checkpoints.clear();
  past.say(event::CheckpointSaved{10, "/c/step_10", false});
  CHECK(had_whole(past.state, way));  // it trained on, and deleted it when the next one was done
  event::CheckpointSeen seen{10, "/c/step_10", event::CheckpointSeen::How::kBroken, "", "", 100, 2, ""};
  way->seen = {seen};
  CHECK_FALSE(had_whole(past.state, way));
  seen.how = event::CheckpointSeen::How::kWhole;
  past.say(seen, 1);
  CHECK(had_whole(past.state, way));
  seen.how = event::CheckpointSeen::How::kBroken;
  past.say(seen, 1);
  CHECK(had_whole(past.state, way));  // all of them were damaged since
}

TEST_CASE("a run that had saved whole ones does not begin from nothing when only a broken one is left") {
  QuarantineFolder f;
  f.checkpoint("global_step_30");  // its trainer deleted the earlier ones
  point(f, "30");
  const std::vector<std::string> roots{f.root};
  std::optional<LastWhole> way = broken_at_30(f);
  for (const bool had_whole : {false, true}) {
    Rollback back;
    back.from = 30;
    const auto plan =
        plan_rollback(*f.disk, {saved_by_tens(f), kVerl, roots, way, false, "x", had_whole}, std::move(back));
    REQUIRE(plan.ok());
    CHECK(plan->from_nothing == had_whole);
    CHECK(plan->trouble.empty());
  }
}

TEST_CASE("where the last whole one is not proven to be the run's own the pointer is not taken away") {
  QuarantineFolder f;
  for (const int step : {20, 30}) f.checkpoint(cat("global_step_", step));
  point(f, "30");
  Ownership own = saved_by_tens(f);
  own.lives = {{Time::from_seconds(1), Time::from_seconds(2)}};  // by the clock of the file server
  own.last_said = {30};
  const std::vector<std::string> roots{f.root};
  std::optional<LastWhole> way = broken_at_30(f);
  const auto plan_of_30 = [&] {
    Rollback back;
    back.from = 30;
    auto plan = plan_rollback(*f.disk, {own, kVerl, roots, way, false, "x"}, std::move(back));
    REQUIRE(plan.ok());
    return *plan;
  };
  const auto times = [&](std::string_view name, int64_t seconds) {
    CHECK(std::system(cat("touch -d @", seconds, " ", f.root, "/", name, "/model ", f.root, "/", name).c_str()) == 0);
  };
  times("global_step_30", 2);
  CHECK(plan_of_30().trouble.empty());  // nothing that is whole is known
  way->kept = 20;
  CHECK(plan_of_30().trouble ==
        cat("the checkpoint of step 20 in ", f.root,
            " is whole and not proven to be this run's own, and without it the trainer would begin from nothing"));
  CHECK(plan_of_30().back.plans.empty());
  times("global_step_20", 2);
  CHECK_MESSAGE(plan_of_30().trouble.empty(), plan_of_30().trouble);
}

}  // namespace
}  // namespace mw
