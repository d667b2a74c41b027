#include "core/trainings.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "core/attempts.h"
#include "core/said_run_for_test.h"

namespace mw {
namespace {

/// A command that trains in /w/ck/A and then, from its first step on, in /w/ck/B.
struct Run : SaidRun {
  bool names = true;  ///< its log names the folders, from where it works on

  explicit Run(bool names_folders = true) : names(names_folders) {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
    say(event::AttemptBegan{std::string(kKeeperBegan)});
  }
  /// What it saves on the way, every tenth step, is found when the next one is.
  void trains(const std::string& folder, int64_t from, int64_t to, bool finds_last = true, int64_t every = 1) {
    int64_t saved = kNoStep;
    for (int64_t step = from; step <= to; ++step) {
      say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
      if (step % every == 0) state.ticks.push_back({state.order, state.last_at, step, true});
      if (step % 10 != 0) continue;
      if (saved != kNoStep) finds(folder, saved);
      say(event::CheckpointSaved{step, names ? cat(folder, "/global_step_", step) : "", true});
      saved = step;
    }
    if (saved != kNoStep && finds_last) finds(folder, saved);
  }
  void finds(const std::string& folder, int64_t step) {
    event::CheckpointSeen seen;
    seen.step = step;
    seen.path = cat("/w/", folder, "/global_step_", step);
    seen.how = event::CheckpointSeen::How::kWhole;
    say(std::move(seen), 1);
  }
  void fails() {
    event::TraceSeen trace;
    trace.exception = "RuntimeError";
    say(std::move(trace));
  }
  bool left(const std::string& root) const { return EarlierTrainings(state).left(root); }
};

TEST_CASE("what the first training of a command saved is none of the second one's") {
  for (const bool names : {true, false}) {
    CAPTURE(names);
    Run run(names);
    run.trains("ck/A", 1, 60, false);
    CHECK_FALSE(run.left("/w/ck/A"));
    run.trains("ck/B", 1, 3);
    run.finds("ck/A", 60);  // in the second one's time
    CHECK(run.left("/w/ck/A"));
    run.trains("ck/B", 4, 33);
    CHECK(run.left("/w/ck/A"));
    CHECK_FALSE(run.left("/w/ck/B"));
    CHECK_FALSE(run.left("/w/ck"));
    run.begins_again();  // the script goes past the first one, which is done
    CHECK(run.left("/w/ck/A"));
    run.say(event::Resumed{30, ""});
    run.trains("ck/B", 31, 70);  // further than the first one came
    CHECK(run.left("/w/ck/A"));
    CHECK_FALSE(run.left("/w/ck/B"));
    const EarlierTrainings earlier(run.state);
    CHECK(earlier.has(0, "ck/A/global_step_60"));
    CHECK(earlier.has(0, ""));
    CHECK_FALSE(earlier.has(1, ""));
    CHECK_FALSE(earlier.has(1, "ck/B/global_step_10"));
  }
}

TEST_CASE("its log may name the folder of all saves alone, or a part of each, or nothing but their names") {
  const auto left = [](const std::string& before, const std::string& behind) {
    Run run(false);
    const auto saves = [&](const std::string& folder, int64_t to) {
      for (int64_t step = 1; step <= to; ++step) {
        run.say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
        const std::string path = before == "name" ? cat("global_step", step) : cat(before, folder, behind);
        if (step % 10 == 0) run.say(event::CheckpointSaved{step, behind == "/" ? cat(path, "s_", step, "/a/b") : path});
      }
    };
    saves("A", 40);
    run.finds("ck/A", 40);
    saves("B", 30);
    CHECK_FALSE(run.left("/w/ck/B"));
    return run.left("/w/ck/A");
  };
  CHECK(left("/w/ck/", ""));
  CHECK(left("ck/", "/"));
  CHECK(left("name", ""));
}

TEST_CASE("by its saves a command is seen to go on to another training whose records are counted on") {
  Run run;
  int64_t record = 0;
  const auto trains = [&](const std::string& folder, int64_t saves) {
    for (int64_t step = 1; step <= 10 * saves; ++step) {
      run.say(event::Measured{++record, false, {{"reward.mean", "r", 0.5}}});
      if (step % 10 == 0) run.say(event::CheckpointSaved{step, cat(folder, "/checkpoint-", step), false});
    }
  };
  trains("ck/A", 6);
  CHECK_FALSE(run.left("/w/ck/A"));
  trains("ck/B", 1);
  CHECK_FALSE(run.left("/w/ck/A"));  // a save of another kind, perhaps
  trains("ck/B", 3);
  REQUIRE(run.state.attempts.size() == 1);
  CHECK(run.left("/w/ck/A"));
  CHECK_FALSE(run.left("/w/ck/B"));
  CHECK(EarlierTrainings(run.state).has(0, "ck/A/checkpoint-60"));
  run.finds("ck/A", 60);
  run.finds("ck/B", 10);
  CHECK(EarlierTrainings(run.state).folders().count("/w/ck/A") == 1);
  CHECK(EarlierTrainings(run.state).folders().count("/w/ck/B") == 0);
  CHECK(EarlierTrainings(run.state).has(0, "/w/ck/A/checkpoint-60"));  // as the disk names it
  CHECK_FALSE(EarlierTrainings(run.state).has(0, "ck/B/checkpoint-10"));
  CHECK_FALSE(EarlierTrainings(run.state).has(0, "/w/ck/B/checkpoint-10"));
  CHECK_FALSE(EarlierTrainings(run.state).has(0, "/checkpoint-10"));
  Run both;  // exports of what it saves
  for (int64_t step = 10; step <= 50; step += 10) {
    both.say(event::CheckpointSaved{step, cat("ck/checkpoint-", step), true});
    both.say(event::CheckpointSaved{step - 5, cat("out/checkpoint-", step - 5), true});
  }
  CHECK_FALSE(both.left("/w/ck"));
  CHECK_FALSE(both.left("/w/out"));
  Run restarted;  // each attempt into a folder of its own
  restarted.trains("out/1", 1, 40);
  restarted.begins_again();
  restarted.say(event::Resumed{20, ""});
  restarted.trains("out/2", 21, 50);
  CHECK_FALSE(restarted.left("/w/out/1"));
}

TEST_CASE("a third training leaves what both before it saved") {
  Run run;
  run.trains("ck/seed0", 1, 40);
  run.trains("ck/seed1", 1, 40);
  run.trains("ck/seed2", 1, 15);
  CHECK(run.left("/w/ck/seed0"));
  CHECK(run.left("/w/ck/seed1"));
  CHECK_FALSE(run.left("/w/ck/seed2"));
}

TEST_CASE("what the first training said that it saves is its own, however many steps lie between two ticks") {
  Run run;
  run.trains("ck/A", 1, 60, false, 50);
  run.trains("ck/B", 1, 3, true, 50);
  run.finds("ck/A", 50);  // no tick since the second one began
  run.finds("ck/A", 60);
  run.trains("ck/B", 4, 7, true, 50);
  CHECK(run.left("/w/ck/A"));
  CHECK_FALSE(run.left("/w/ck/B"));
}

TEST_CASE("a later training may save in a folder within the one of the first") {
  for (const bool counted_on : {false, true}) {  // does the log count its records as those of one training?
    CAPTURE(counted_on);
    Run run;
    run.trains("ck", 1, 60);
    CHECK_FALSE(run.left("/w/ck"));
    for (const int64_t step : {10, 20, 30}) {
      if (!counted_on) run.trains("ck/stage2", step - 9, step);
      if (counted_on) run.say(event::CheckpointSaved{step, cat("ck/stage2/global_step_", step), true});
      if (counted_on) run.finds("ck/stage2", step);
    }
    CHECK(run.left("/w/ck"));
    CHECK(run.left("ck"));
    CHECK_FALSE(run.left("/w/ck/stage2"));
  }
}

TEST_CASE("a log may say at its beginning where a training saves, and that lies within the folder of the first") {
  Run run(false);
  run.say(event::Configured{"save_folder", "ck"});
  run.trains("ck", 1, 60);
  run.trains("ck/stage2", 1, 3);
  run.say(event::Configured{"save_folder", "ck/stage2"});
  run.trains("ck/stage2", 4, 33);
  CHECK(run.left("/w/ck"));
  CHECK_FALSE(run.left("/w/ck/stage2"));
  Run same(false);  // it says it anew
  same.say(event::Configured{"save_folder", "ck"});
  same.trains("ck", 1, 60);
  same.trains("ck", 1, 3);
  same.say(event::Configured{"save_folder", "ck"});
  same.trains("ck", 4, 33);
  CHECK_FALSE(same.left("/w/ck"));
}

TEST_CASE("a folder in which the training that goes on saves, too, is its own") {
  Run run;
  run.trains("ck/A", 1, 60);
  run.trains("ck/A", 1, 12);
  CHECK_FALSE(run.left("/w/ck/A"));
  Run nameless(false);
  nameless.trains("ck/A", 1, 60);
  nameless.trains("ck/A", 1, 12);
  CHECK_FALSE(nameless.left("/w/ck/A"));
}

TEST_CASE("a trainer that its launcher starts again within the command trains on where it saved") {
  Run anew;  // from nothing, and has saved nothing since
  anew.trains("ck/A", 1, 33);
  anew.fails();
  anew.trains("ck/A", 1, 5);
  CHECK_FALSE(anew.left("/w/ck/A"));
  Run resumed;
  resumed.trains("ck/A", 1, 33);
  resumed.fails();
  resumed.say(event::Resumed{30, "ck/A/global_step_30"});
  resumed.trains("ck/A", 31, 39);
  CHECK_FALSE(resumed.left("/w/ck/A"));
}

TEST_CASE("an attempt that midwatch starts is of the training that died before it") {
  Run run;
  run.trains("ck/A", 1, 33);
  run.begins_again();
  run.trains("ck/A", 1, 5);
  CHECK_FALSE(run.left("/w/ck/A"));
  Run second;  // dies before its first save, and begins anew
  second.trains("ck/A", 1, 60);
  second.trains("ck/B", 1, 7);
  CHECK(second.left("/w/ck/A"));
  second.begins_again();
  second.trains("ck/B", 1, 7);
  CHECK(second.left("/w/ck/A"));
}

TEST_CASE("a command that nobody supervises is one training") {
  Run run;
  run.state.attempts.front().why = "banner";
  run.trains("ck/A", 1, 60);
  run.trains("ck/B", 1, 33);
  CHECK_FALSE(run.left("/w/ck/A"));
}

}  // namespace
}  // namespace mw
