#include "core/crash_cost.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/text.h"
#include "core/cost.h"
#include "core/resume_advice.h"

namespace mw {
namespace {

/// 26 steps of a minute each, saves of step 10 and 20 that the disk shows to be whole half a minute later; a crash.
struct Run {
  State state;
  double at = 1'700'000'000;
  uint64_t line = 0;

  template <typename Body>
  void say(Body body, uint32_t source = 0) {
    fold(state, {Time::from_seconds(at), {source, ++line}, std::move(body)});
  }
  void steps(int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; ++step) {
      at += 60;
      say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
      if (step % 10 != 0) continue;
      say(event::CheckpointSaved{step, cat("/c/step_", step), true});
      at += 30;
      say(event::CheckpointSeen{step, cat("/c/step_", step), event::CheckpointSeen::How::kWhole, "", "", 100, 2, ""},
          1);
      at -= 30;
    }
  }
  Run() {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
    steps(1, 26);
  }
};

TEST_CASE("what a crash costs is steps, time and money, and how well the checkpoint is known") {
  Run run;
  CHECK(work_since(run.state, 20) == 360);
  CHECK(work_since(run.state, 10) == 960);
  CHECK(verified_text(run.state) == "step 20 was found whole 5m 30s before");
  run.state.verdict = "crashed";
  CHECK(to_sentence(*resume_advice(run.state)) ==
        "Resume from step 20 (whole on disk); 6 of 26 steps are lost, 6m 00s of work; step 20 was found whole 5m 30s "
        "before.");
  set_cost_per_hour(run.state, 20);
  CHECK(contains(to_sentence(*resume_advice(run.state)),
                 "6 of 26 steps are lost, 6m 00s of work (2.00 at 20.00 an hour)"));
  run.at -= 60;
  run.say(event::CheckpointRead{20, "/c/step_20", event::CheckpointRead::How::kSane, "", 1, 100, 1}, 1);
  CHECK(verified_text(run.state) == "all bytes of step 20 were read and found sane 1m 00s before");
}

TEST_CASE("an attempt that went on from an earlier one's checkpoint has worked since it began") {
  Run run;
  run.at += 3600;
  run.say(event::AttemptBegan{"again"});
  run.say(event::Resumed{20, "/c/step_20"});
  run.steps(21, 24);
  CHECK(work_since(run.state, 20) == 240);
  run.steps(25, 32);
  CHECK(work_since(run.state, 30) == 120);
}

TEST_CASE("a log whose clock is set back in the middle is as long as its steps were") {
  for (const double by : {3600.0, 72 * 3600.0}) {
    CAPTURE(by);
    State state;
    double at = 1'700'000'000;
    uint64_t line = 0;
    const auto say = [&](auto body) { fold(state, {Time::from_seconds(at), {0, ++line}, std::move(body)}); };
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::AttemptBegan{"launch"});
    for (int64_t step = 1; step <= 80; ++step) {
      at += step == 41 ? 60 - by : 60;
      say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
      if (step == 60) say(event::CheckpointSaved{step, "/c/step_60", true});
    }
    say(event::SourceEnded{});
    CHECK(std::fabs(run_seconds(state) - 80 * 60) <= 60);  // how long the step took in which it was set back is unknown
    CHECK(work_since(state, 60) == 20 * 60);
    CHECK(state.first_at == Time::from_seconds(1'700'000'000));
    CHECK(state.sources[0].straight.first() == 43);
  }
}

TEST_CASE("of a save without a time the clock of its step counts, and where that has none nothing is made up") {
  Run run;
  for (auto& [moment, saved] : run.state.checkpoints) moment.at = {};
  CHECK(work_since(run.state, 20) == 360);
  State state;
  const auto say = [&state](double at, auto body) { fold(state, {Time::from_seconds(at), {0, 1}, std::move(body)}); };
  say(1'700'000'000, event::AttemptBegan{"launch"});  // the launcher's lines have a clock, the trainer's have none
  for (int64_t step = 1; step <= 30; ++step) {
    fold(state, {{}, {0, static_cast<uint64_t>(step + 1)}, event::Measured{step, false, {{"reward.mean", "r", 0.5}}}});
    if (step == 20) fold(state, {{}, {0, 21}, event::CheckpointSaved{20, "/c/step_20", true}});
  }
  say(1'700'036'000, event::Ended{event::Ended::How::kExit, 1, ""});
  CHECK(work_since(state, 20) == 0);
  CHECK(work_text(59, 5).empty());
}

/// A supervised run whose lines have no clock, a step a minute; midwatch hears of each, and looks every ten seconds.
struct Unclocked {
  State state;
  double now = 1'700'000'000;
  uint64_t line = 0;

  template <typename Body>
  void hear(Body body) {  // a line of the log
    fold(state, {{}, {0, ++line}, std::move(body), Time::from_seconds(now)});
  }
  template <typename Body>
  void know(Body body) {  // what midwatch itself says
    fold(state, {Time::from_seconds(now), {}, std::move(body), Time::from_seconds(now)});
  }
  void begin(int64_t attempt) {
    hear(event::AttemptBegan{"midwatch started the command"});
    know(event::AttemptStarted{attempt, 100 + attempt, "boot"});
  }
  void steps(int64_t from, int64_t to) {
    for (int64_t step = from; step <= to; ++step) {
      for (int i = 0; i < 6; ++i) {
        now += 10;
        know(event::Ticked{false, true});
      }
      hear(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
      if (step == 10) hear(event::CheckpointSaved{10, "/c/step_10", true});
    }
  }
};

TEST_CASE("of a supervised run whose lines have no clock the time counts at which midwatch heard of them") {
  Unclocked run;
  run.begin(1);
  run.steps(1, 15);
  run.state.verdict = "running";
  set_cost_per_hour(run.state, 3600);
  CHECK(run_seconds(run.state) == 900);
  CHECK(work_since(run.state, kNoStep) == 900);
  CHECK(work_since(run.state, 10) == doctest::Approx(290).epsilon(0.05));
  run.know(event::AttemptExited{1, true, 1, 0, ""});
  run.state.verdict = "crashed";
  run.now += 7200;  // nobody works
  run.know(event::Ticked{false, false});
  CHECK(run_seconds(run.state) == 900);
  CHECK(work_since(run.state, 10) == doctest::Approx(290).epsilon(0.05));
  run.begin(2);
  run.hear(event::Resumed{10, "/c/step_10"});
  run.steps(11, 12);
  run.state.verdict = "running";
  CHECK(run_seconds(run.state) == 1020);
  CHECK(work_since(run.state, 10) == 120);
}

TEST_CASE("an attempt that went with its midwatch lasted as long as that saw it, not until the next one looked") {
  Unclocked run;
  run.know(event::WatchBegan{"0.1", "", ""});
  run.begin(1);
  run.steps(1, 10);
  run.now += 36'000;
  run.know(event::WatchBegan{"0.1", "", ""});
  run.know(event::AttemptExited{1, false, 0, 0, ""});
  CHECK(run_seconds(run.state) == 600);
}

TEST_CASE("where no clock is known, and where nobody looked at a checkpoint, nothing is made up") {
  State state;
  CHECK(work_since(state, 20) == 0);
  CHECK(work_text(0, 5).empty());
  CHECK(verified_text(state).empty());
  CHECK(work_text(6240, 5.73) == "1h 44m of work (9.93 at 5.73 an hour)");
}

TEST_CASE("the work of a log whose clock is months behind is counted by that clock") {
  Run run;  // its clock is of 2023
  run.state.verdict = "running";
  const double now = 1'780'000'000, logged = run.at;
  for (int i = 0; i < 6; ++i) {
    fold(run.state, {Time::from_seconds(now + 10 * i), {}, event::Ticked{false, i == 3}});
  }
  CHECK(last_sign_of_life(run.state) == Time::from_seconds(logged + 20));  // it was silent for two ticks
  CHECK(work_since(run.state, 20) == 380);
  Run live;  // of the same clock: the step that is under way counts
  live.state.verdict = "running";
  fold(live.state, {Time::from_seconds(live.at + 1800), {}, event::Ticked{false, true}});
  CHECK(work_since(live.state, 20) == 360 + 1800);
}

TEST_CASE("without a clock a run took as long as its steps say, or nobody knows what it cost") {
  State state;
  uint64_t line = 0;
  const auto say = [&](auto body) { fold(state, {{}, {0, ++line}, std::move(body)}); };
  say(event::SourceOpened{0, "train.log", "text", 0});
  for (int64_t step = 5; step <= 20; step += 5) say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
  CHECK(run_seconds(state) == 0);
  CHECK(cost_text(0, 10) == "not known: no clock and no duration, at 10.00 an hour");
  say(event::Measured{25, false, {{"time.step", "step_time", 360}}});
  CHECK(run_seconds(state) == doctest::Approx(21 * 360));
}

TEST_CASE("an attempt that began without a clock lasted from its first record") {
  State state;
  uint64_t line = 0;
  const auto say = [&](double at, auto body) {
    fold(state, {at > 0 ? Time::from_seconds(1'700'000'000 + at) : Time(), {0, ++line}, std::move(body)});
  };
  say(0, event::SourceOpened{0, "train.log", "text", 0});
  for (int step = 1; step <= 10; ++step) say(60.0 * step, event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
  say(0, event::Resumed{8, "ckpt"});
  for (int step = 9; step <= 20; ++step)
    say(6000 + 60.0 * step, event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
  REQUIRE(state.attempts.size() == 2);
  CHECK(run_seconds(state) == doctest::Approx(9 * 60 + 11 * 60));
  CHECK(began_by_clock(state, state.attempts[1]) == Time::from_seconds(1'700'000'000 + 6540));
}

TEST_CASE("where one line has a clock and a bar goes on behind it, the bar says how long the run worked") {
  State state;
  const Time began = Time::from_seconds(1'700'000'000);
  uint64_t line = 0;
  const auto say = [&](auto body, Time at) { fold(state, {at, {0, ++line}, std::move(body)}); };
  say(event::SourceOpened{0, "train.log", "text", 0}, {});
  say(event::Planned{200}, began);
  for (int64_t step = 10; step <= 100; step += 10) {
    say(event::Progressed{"", step, 200, 72.0 * static_cast<double>(step)}, {});
    say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}}, {});
  }
  CHECK(run_seconds(state) == doctest::Approx(7200));
  CHECK((last_sign_of_life(state) - began).seconds() == doctest::Approx(7200));
  CHECK(work_since(state, kNoStep) == doctest::Approx(7200));
}

TEST_CASE("attempts of one log last as long as the bar of each shows, or the clocks beside its lines") {
  State bars, clocks;
  const Time began = Time::from_seconds(1'700'000'000);
  uint64_t line = 0;
  const auto say = [&line](State& state, auto body, Time at = {}) { fold(state, {at, {0, ++line}, std::move(body)}); };
  double clock = 0;
  for (State* state : {&bars, &clocks}) {
    say(*state, event::SourceOpened{0, "train.log", "text", 0});
    say(*state, event::Planned{200});
    for (const auto& [from, to] : {std::pair{1, 33}, {21, 57}, {41, 71}, {61, 200}}) {
      say(*state, event::AttemptBegan{"a start"});
      for (int step = from; step <= to; ++step) {
        if (state == &bars) say(bars, event::Progressed{"", step, 200, 60.0 * (step - from + 1)});
        if (state == &clocks) say(clocks, event::ClockLacks{}, began + Duration::seconds(clock += 60));
        say(*state, event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
      }
      clock += 420;
    }
  }
  REQUIRE(bars.attempts.size() == 4);
  CHECK(attempt_seconds(bars, bars.attempts[1]) == doctest::Approx(37 * 60));
  CHECK(run_seconds(bars) == doctest::Approx(241 * 60));
  REQUIRE(clocks.attempts.size() == 4);
  CHECK(attempt_seconds(clocks, clocks.attempts[1]) == doctest::Approx(36 * 60));  // from its first clock on
  CHECK(run_seconds(clocks) == doctest::Approx((241 - 4) * 60));
}

}  // namespace
}  // namespace mw
