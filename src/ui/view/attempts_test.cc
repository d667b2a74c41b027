#include "ui/view/attempts.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/cost.h"
#include "ui/report/status.h"
#include "ui/testing/fake_run.h"
#include "ui/view/checkpoints.h"
#include "ui/view/expected_end.h"
#include "ui/view/pace.h"
#include "ui/view/run_now.h"

namespace mw {
namespace {

Time clock_of(std::string_view hour_minute) { return *parse_time(cat("2026-02-19T", hour_minute, ":00Z")); }

/// Four steps, 100 minutes each; a save of step 4 that is lost; a start from nothing.
FakeRun lost_run() {
  FakeRun run;
  run.at = clock_of("09:00");
  run.say(event::AttemptBegan{"Attempt #1"});
  for (int step = 1; step <= 4; ++step) {
    run.at = run.at + Duration::seconds(6000);
    run.measure(step, 0.5);
  }
  run.at = run.at + Duration::seconds(60);
  run.say(event::Ended{event::Ended::How::kFailed, 1, "exit code: 1"});
  run.at = run.at + Duration::seconds(60);
  run.say(event::AttemptBegan{"Attempt #2"});
  run.say(event::StepBegan{1});
  run.measure(1, 0.5);
  return run;
}

TEST_CASE("attempts say why they began, how long they lasted, what ended them and what was lost") {
  FakeRun run = lost_run();
  run.incident("network", Severity::kCritical, 4, "A request was refused", "HTTP 502 from the judge");
  const std::vector<AttemptRow> rows = attempt_rows(run.state);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].why == "Attempt #1");
  CHECK(steps_done(rows[0]) == "1 to 4");
  CHECK(lasted(rows[0]) == "6h 41m");
  CHECK(rows[0].end == "exit code: 1: HTTP 502 from the judge");
  CHECK(rows[0].lost == "4 steps, 6h 41m");
  CHECK(steps_done(rows[1]) == "1");
  CHECK(rows[1].end == "no end was seen");
  CHECK(rows[1].lost.empty());
}

TEST_CASE("an attempt that resumed without a word lost what its counter passes over; midwatch knows when it ran") {
  FakeRun run;
  run.at = {};
  run.say(event::AttemptBegan{"midwatch started the command"});
  for (int step = 1; step <= 24; ++step) run.measure(step, 0.5);
  run.say(event::Ended{event::Ended::How::kFailed, 1, "exit status 1"});
  run.say(event::AttemptBegan{"midwatch started the command"});
  for (int step = 21; step <= 30; ++step) run.measure(step, 0.5);
  SupervisedAttempt first;
  first.number = 1;
  first.started = first.exited = first.known = true;
  first.code = 1;
  first.started_at = clock_of("09:00");
  first.exited_at = clock_of("09:30");
  run.state.supervision.attempts.push_back(first);
  const std::vector<AttemptRow> rows = attempt_rows(run.state);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].lost == "4 steps");
  CHECK(lasted(rows[0]) == "30m 00s");
}

TEST_CASE("an attempt without a clock or a bar lasted as long as its steps say that they took") {
  FakeRun run;
  for (const int from : {1, 21}) {
    run.say(event::AttemptBegan{"a start"});
    for (int step = from; step <= from + 32; ++step) run.measure(step, 60, "time.step", "Total step time");
  }
  const std::vector<AttemptRow> rows = attempt_rows(run.state);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].seconds == doctest::Approx(33 * 60));
  CHECK(lasted(rows[1]) == "33m 00s");
}

TEST_CASE("where only a counter went back nothing is said to be lost") {
  FakeRun run;
  run.at = clock_of("09:00");
  for (int step = 1; step <= 30; ++step) {
    run.at = run.at + Duration::seconds(60);
    run.measure(step, 0.5);
  }
  for (int step = 1; step <= 4; ++step) {
    run.at = run.at + Duration::seconds(60);
    run.measure(step, 0.5);
  }
  const std::vector<AttemptRow> rows = attempt_rows(run.state);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].lost.empty());
}

TEST_CASE("what was done since the checkpoint that the next attempt resumed from is lost") {
  FakeRun run;
  run.at = clock_of("09:00");
  run.say(event::AttemptBegan{"first"});
  for (int step = 1; step <= 7; ++step) {
    run.at = run.at + Duration::seconds(600);
    run.measure(step, 0.5);
  }
  run.say(event::AttemptBegan{"second"}).say(event::Resumed{5, "ckpt/5"}).measure(6, 0.5);
  const std::vector<AttemptRow> rows = attempt_rows(run.state);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].lost == "2 steps, 20m 00s");
  CHECK(rows[1].resumed_at == 5);
}

TEST_CASE("what a complete job did is not lost when another one follows in the same file") {
  FakeRun run;
  for (int step = 30; step <= 90; step += 30) run.measure(step, 0.5);
  CHECK(begun_from(run.state, 0) == 0);  // it reports every 30th step
  run.say(event::Ended{event::Ended::How::kComplete, 0, "train_runtime"});
  run.say(event::AttemptBegan{"again"}).measure(30, 0.5);
  CHECK(attempt_rows(run.state)[0].lost.empty());
  FakeRun resumed;
  for (int step = 501; step <= 503; ++step) resumed.measure(step, 0.5);
  CHECK(begun_from(resumed.state, 0) == 500);
}

TEST_CASE("an attempt that only began a step has done none") {
  FakeRun run;
  run.measure(1, 0.5).say(event::AttemptBegan{"again"}).say(event::StepBegan{1});
  const std::vector<AttemptRow> rows = attempt_rows(run.state);
  REQUIRE(rows.size() == 2);
  CHECK(steps_done(rows[1]) == "none");
}

TEST_CASE("a checkpoint row has its size, how long the save took, and how it was verified") {
  FakeRun run;
  run.at = clock_of("09:00");
  run.measure(10, 0.5).measure(10, 95, "time.save", "save");
  run.say(event::CheckpointSaved{10, "", false}).say(event::CheckpointSaved{10, "out/step_10", true});
  run.measure(20, 0.5).say(event::CheckpointSaved{20, "out/step_20", true});
  run.measure(25, 0.5).say(event::CheckpointSaved{25, "out/step_25", true});
  event::CheckpointSeen seen;
  seen.step = 10;
  seen.path = "/data/out/step_10";
  seen.how = event::CheckpointSeen::How::kWhole;
  seen.bytes = 47'000'000'000;
  run.say(seen);
  seen.step = 20;
  seen.how = event::CheckpointSeen::How::kBroken;
  seen.what = "no weights";
  run.say(seen);
  const std::vector<CheckpointRow> rows = checkpoint_rows(run.state, {});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].verified == "whole on disk");
  CHECK(rows[0].bytes == 47'000'000'000);
  CHECK(rows[0].seconds == 95);
  CHECK(rows[0].path == "/data/out/step_10");
  CHECK(rows[1].verified == "BROKEN: no weights");
  CHECK_FALSE(rows[1].saved);
  CHECK(rows[2].verified == "saved, by the log");
  run.incident("checkpoint-incomplete", Severity::kCritical, 25, "no weights were written", "x");
  CHECK(checkpoint_rows(run.state, {})[2].verified == "not trusted: incident #1");
}

TEST_CASE("trainer and orchestrator that each save their share of a step have made one checkpoint") {
  FakeRun run;
  for (int step = 10; step <= 40; step += 10) run.measure(step, 0.5).say(event::CheckpointSaved{step, "", step < 40});
  for (int step = 10; step <= 40; step += 10) run.say(event::CheckpointSaved{step, "", false});
  const std::vector<CheckpointRow> rows = checkpoint_rows(run.state, {});
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].step == 10);
  CHECK(rows[0].saved);
  CHECK(rows[3].verified == "its save began");
}

TEST_CASE("a save whose line has no clock is of the cycle that the lines around it are of") {
  FakeRun run;
  run.at = clock_of("08:00");
  for (int step = 10; step <= 40; step += 10) {
    run.at = run.at + Duration::seconds(600);
    run.measure(step, 0.5);
    const Time then = run.at;
    run.at = Time();
    run.say(event::CheckpointSaved{step, "", true});
    run.at = then;
  }
  const Cycle cycle{kNoStep, clock_of("08:25")};
  const std::vector<CheckpointRow> rows = checkpoint_rows(run.state, cycle);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].step == 30);
  CHECK(checkpoint_rows(run.state, Cycle{20, clock_of("08:25")}).size() == 3);  // by its step, without a guess
}

TEST_CASE("a checkpoint from after the onset of what spoils the weights is suspect") {
  FakeRun run;
  for (int step = 1; step <= 20; ++step) {
    run.measure(step, 0.5);
    if (step % 10 == 0) run.say(event::CheckpointSaved{step, cat("out/step_", step), true});
  }
  run.incident("zero-reward", Severity::kCritical, 15, "Reward is 0", "x");
  const std::vector<CheckpointRow> rows = checkpoint_rows(run.state, {});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].verified == "saved, by the log");
  CHECK(rows[1].verified == "saved, by the log, suspect since step 15");
}

std::string now_text(const State& state, std::string_view what) {
  for (const NowLine& line : run_now(state)) {
    if (line.what == what) return line.text;
  }
  return "";
}

FakeRun going_on() {
  FakeRun run;
  run.say(event::Planned{212}).say(event::Configured{"save_steps", "4"});
  run.at = clock_of("09:00");
  for (int step = 1; step <= 6; ++step) {
    run.at = run.at + Duration::seconds(6000);
    run.measure(step, 0.5).measure(step, 6000, "time.step", "step");
    if (step == 4) run.say(event::CheckpointSaved{4, "ckpt/4", true});
    if (step % 2 == 0) run.say(event::Measured{step, true, {{"", "eval/acc", 0.5}}});
  }
  run.at = run.at + Duration::seconds(600);
  run.say(event::PhaseBegan{"rollout"});
  run.at = run.at + Duration::seconds(600);
  run.say(event::Progressed{"Generating Trajectories", 44, 80});
  run.state.verdict = "running";
  return run;
}

TEST_CASE("a checkpoint row says what reading all of its bytes found; no crash goes back to one that is not sane") {
  FakeRun run;
  run.at = clock_of("09:00");
  using Read = event::CheckpointRead::How;
  for (const int step : {10, 20, 30}) {
    run.measure(step, 0.5);
    run.say(
        event::CheckpointSeen{step, cat("/ck/step_", step), event::CheckpointSeen::How::kWhole, "", "", 100, 2, ""});
  }
  run.measure(32, 0.5);
  run.say(event::CheckpointRead{10, "/ck/step_10", Read::kSane, "", 7, 100, 1});
  run.say(event::CheckpointRead{20, "/ck/step_20", Read::kSkipped, "a save began while it was read", 7, 0, 0});
  const auto verified = [&run](size_t row) { return checkpoint_rows(run.state, {})[row].verified; };
  REQUIRE(checkpoint_rows(run.state, {}).size() == 3);
  CHECK(verified(0) == "whole on disk, all bytes read: sane");
  CHECK(verified(1) == "whole on disk, not read: a save began while it was read");
  CHECK(verified(2) == "whole on disk");
  CHECK(crash_cost(run.state).from == 30);
  run.at = run.at + Duration::seconds(60);
  run.say(event::CheckpointRead{30, "/ck/step_30", Read::kSuspect, "w: 3 of 9 numbers are NaN", 7, 100, 1});
  CHECK(verified(2) == "SUSPECT: w: 3 of 9 numbers are NaN");
  CHECK(crash_cost(run.state).from == 20);
}

TEST_CASE("where the run is now: phase, next step, save and evaluation, and what a crash would cost") {
  FakeRun run = going_on();
  CHECK(now_text(run.state, "Phase") ==
        "rollout since 2026-02-19T19:10:00Z, 10m 00s by then; Generating Trajectories 44 of 80");
  CHECK(now_text(run.state, "Next step") == "7 of 212, expected 2026-02-19T20:40:00Z");
  CHECK(now_text(run.state, "Next save") == "step 8 (every 4 by the settings), expected 2026-02-19T22:20:00Z");
  CHECK(now_text(run.state, "Next evaluation") == "step 8 (every 2 so far), expected 2026-02-19T22:20:00Z");
  CHECK(now_text(run.state, "A crash would cost") == "2 steps and 3h 40m of work since the checkpoint of step 4");
  set_cost_per_hour(run.state, 6);
  CHECK(now_text(run.state, "A crash would cost") ==
        "2 steps and 3h 40m of work (22.00 at 6.00 an hour) since the checkpoint of step 4");
  run.state.verdict = "finished";
  CHECK(run_now(run.state).empty());
}

TEST_CASE("an evaluation that has not come for several turns is not forecast from them") {
  FakeRun run = going_on();
  REQUIRE_FALSE(now_text(run.state, "Next evaluation").empty());
  for (int64_t step = 7; step <= 40; ++step) {
    run.at = run.at + Duration::seconds(60);
    run.measure(step, 0.5);
  }
  CHECK(now_text(run.state, "Next evaluation").empty());
}

TEST_CASE("the next step begins when the evaluation after the last one is over") {
  FakeRun run = going_on();
  CHECK(now_text(run.state, "Next step") == "7 of 212, expected 2026-02-19T20:40:00Z");
  run.say(event::PhaseBegan{"eval"});
  run.at = run.at + Duration::seconds(3600);
  run.say(event::PhaseEnded{"eval", 3600});
  CHECK(now_text(run.state, "Next step") == "7 of 212, expected 2026-02-19T22:00:00Z");
}

TEST_CASE("a step that is long overdue is not expected, and neither is the end") {
  State state;
  state.total_steps = 100;
  Time at = clock_of("09:00");
  for (int64_t step = 1; step <= 20; ++step, at = at + Duration::seconds(2)) {
    fold(state, {{}, {0, static_cast<uint64_t>(step)}, event::Measured{step, false, {{"time.step", "step_time", 2}}}});
    fold(state, {at, {}, event::Ticked{}});
  }
  state.verdict = "running";
  CHECK(expected_end(state).known());
  for (int i = 0; i < 60; ++i, at = at + Duration::seconds(5)) fold(state, {at, {}, event::Ticked{}});
  CHECK_FALSE(expected_end(state).known());
  CHECK(contains(now_text(state, "Next step"), "21 of 100, was expected "));
}

TEST_CASE("the pace and the end are those of the attempt that goes on, and of a run that is no more none is expected") {
  State state;
  state.total_steps = 100;
  Time at = clock_of("09:00");
  const auto step_of = [&](int64_t step, double took) {
    at = at + Duration::seconds(took);
    fold(state, {at, {0, ++state.order}, event::Measured{step, false, {{"time.step", "step_time", took}}}});
  };
  for (int64_t step = 1; step <= 30; ++step) step_of(step, 600);
  fold(state, {at, {}, event::AttemptBegan{"step counter went back"}});
  for (int64_t step = 1; step <= 6; ++step) step_of(step, 60);
  CHECK(seconds_per_step(state) == doctest::Approx(60));
  CHECK(expected_end(state).earliest == at + Duration::seconds(60 * 94 * 0.9));
  CHECK(expected_end(state).latest == at + Duration::seconds(60 * 94 * 1.2));
  Incident end;
  end.kind = "died-silently";
  end.severity = Severity::kWarning;
  state.incidents.push_back(end);
  CHECK_FALSE(expected_end(state).known());
  state.incidents.back().severity = Severity::kInfo;
  CHECK(expected_end(state).known());
}

TEST_CASE("the status says where the run is now as well") {
  FakeRun run = going_on();
  Console console;
  console.width = 100;
  const std::string text = terminal_run_status(run.state, RunStatus(), console);
  CHECK(contains(text, "  next step   7 of 212, expected 2026-02-19T20:40:00Z\n"));
  CHECK(contains(text, "  at risk     2 steps and 3h 40m of work since the checkpoint of step 4\n"));
}

TEST_CASE("to save more often is advised only after a failure or a day") {
  FakeRun run = going_on();
  CHECK(now_text(run.state, "Saving").empty());
  run.incident("stall", Severity::kCritical, 6, "x", "x");
  CHECK(contains(now_text(run.state, "Saving"), "has failed before"));
  run.state.incidents.clear();
  run.at = run.at + Duration::seconds(24.0 * 3600);
  run.measure(7, 0.5);
  CHECK(contains(now_text(run.state, "Saving"), "a day old"));
}

TEST_CASE("without a checkpoint all that was done would be lost") {
  FakeRun run;
  run.at = clock_of("09:00");
  run.measure(1, 0.5);
  run.at = run.at + Duration::seconds(3600);
  run.measure(2, 0.5);
  run.state.verdict = "running";
  CHECK(now_text(run.state, "A crash would cost") == "2 steps and 1h 00m of work: no checkpoint is known");
}

TEST_CASE("a crash does not go back to what the last attempt resumed from, where that is not proved whole") {
  for (const bool doubted : {true, false}) {
    FakeRun run;
    run.at = clock_of("09:00");
    const auto step_of = [&run](int64_t step) {
      run.at = run.at + Duration::seconds(600);
      run.measure(step, 0.5);
    };
    for (int64_t step = 1; step <= 6; ++step) step_of(step);
    event::CheckpointSeen seen{6, "/ck/global_step_6", event::CheckpointSeen::How::kUnknown, "", "", 202, 1, ""};
    if (doubted) seen.doubt = "there are no weights in it";
    run.say(seen);
    run.say(event::AttemptBegan{"again"}).say(event::Resumed{6, "/ck/global_step_6"});
    step_of(7);
    run.state.verdict = "running";
    CHECK(now_text(run.state, "A crash would cost") ==
          (doubted
               ? "7 steps and 1h 00m of work: the one checkpoint on the disk is not proved whole (step 6: there are "
                 "no weights in it)"
               : "1 step and 10m 00s of work since the checkpoint of step 6"));
  }
}

TEST_CASE("the next step, save and the end are expected by one clock") {
  FakeRun run;  // its lines have no clock; its bar shows a second a step, and it says that a step takes 51
  run.say(event::Planned{40}).say(event::Configured{"save_steps", "10"});
  Time at = clock_of("09:00");
  for (int64_t step = 1; step <= 20; ++step, at = at + Duration::seconds(1)) {
    run.measure(step, 0.5).measure(step, 51, "time.step", "timing_s/step");
    run.say(event::Progressed{"Training Progress", step, 40, static_cast<double>(step)});
    fold(run.state, {at, {}, event::Ticked{false, true}});
  }
  run.state.verdict = "running";
  CHECK(clock_pace(run.state) == doctest::Approx(1));
  CHECK(now_text(run.state, "Next step") == "21 of 40, expected 2026-02-19T09:00:20Z");
  const auto next_at = [&](Time now) { return run_now(run.state, now).front().text; };
  CHECK(next_at(clock_of("09:00")) == "21 of 40, expected 2026-02-19T09:00:20Z");
  CHECK(next_at(clock_of("09:00") + Duration::seconds(28)) == "21 of 40, due now");
  CHECK(next_at(clock_of("09:02")) == "21 of 40, was expected 2026-02-19T09:00:20Z");
  CHECK(expected_end(run.state).latest < clock_of("09:01"));
  CHECK(seconds_per_step(run.state) == 51);  // what the trainer says of itself stays
}

TEST_CASE("an attempt that ended as another one did quotes its own words, and not midwatch's line on the other") {
  FakeRun run;
  run.say(event::AttemptBegan{"midwatch started the command"});
  for (int step = 1; step <= 4; ++step) run.measure(step, 0.5);
  run.say(event::Ended{event::Ended::How::kFailed, -9, "exit status -9"});
  run.say(event::AttemptBegan{"midwatch started the command"});
  for (int step = 4; step <= 9; ++step) run.measure(step, 0.5);
  run.say(event::TraceSeen{"OSError", "the pipe is gone", "train.py:3 in f", 40, false, false});
  run.say(event::Ended{event::Ended::How::kFailed, -9, "exit status -9"});
  Incident& killed = run.incident("crash", Severity::kCritical, 4, "A process was killed; the like in 2 attempts",
                                  "=== midwatch: attempt 1 ended 2026-01-02T10:20:30Z (0123), exit status -9 ===");
  killed.onset.attempt = 0;
  killed.latest.attempt = 1;
  const std::vector<AttemptRow> rows = attempt_rows(run.state);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].end == "exit status -9: crash: A process was killed; the like in 2 attempts");
  CHECK(rows[1].end == "exit status -9: OSError: the pipe is gone");
}

}  // namespace
}  // namespace mw
