// A run that hung until somebody ended it: the hang is what its owner wants to read, not only that it was ended.
#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "core/advance.h"
#include "core/planted_run_for_test.h"

namespace mw {
namespace {

/// Forty steps of a minute, one line each; then nothing.
class Hung {
 public:
  explicit Hung(int64_t plan = 100) {
    state_ = PlantedRun().state;
    if (plan > 0) say(event::Planned{plan});
    for (int64_t step = 1; step <= 40; ++step) {
      seconds_ += 60;
      measured(step);
    }
  }

  template <typename Body>
  void say(Body body, uint32_t source = 0) {
    Event event;
    event.at = Time::from_seconds(1'700'000'000 + seconds_);
    event.where = {source, source == 0 ? ++line_ : ++host_line_};
    event.body = std::move(body);
    std::vector<Event> decided;
    advance(state_, event, planted_.knowledge, Judge::kAtClose, decided);
  }
  void measured(int64_t step) {
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.5 + 0.01 * static_cast<double>(step % 5)}}});
  }
  void wait(double seconds) { seconds_ += seconds; }
  void done() {
    planted_.add("said-done", "died-silently", Role::kBenign, Severity::kInfo, false, "ignore");
    say(event::Matched{"said-done", "Training complete."});
  }
  /// Lines that say nothing known.
  void talk(uint64_t lines) { line_ += lines; }
  void machine(double processors, double gpu) {
    say(event::SourceOpened{1, "host:machine", std::string(kHostKind), 0}, 1);
    say(event::Measured{kNoStep, false, {{"process.cpu", "run", processors}, {"gpu.busy", "0", gpu}}}, 1);
  }

  /// What is said of the hang; "" nothing.
  std::string summary() {
    say(event::Closed{});
    std::string said;
    for (const Incident& one : judge(state_, planted_.knowledge)) {
      if (one.kind == "stall") said += one.summary;
    }
    return said;
  }
  std::string verdict() { return verdict_of(state_, judge(state_, planted_.knowledge)); }

 private:
  PlantedRun planted_;
  State state_;
  double seconds_ = 0;
  uint64_t line_ = 1, host_line_ = 0;
};

TEST_CASE("what was over long before the watch came is no standstill that lasts until now") {
  for (const int ticks : {1, 4}) {
    Hung run;
    run.wait(10 * 86400.0);
    for (int i = 0; i < ticks; ++i, run.wait(10)) run.say(event::Ticked{});
    CHECK(run.summary().empty());
  }
}

/// A step that takes three hours and a half, whose rollouts are counted in lines for the first part of it.
std::string counted_for(int64_t minutes, int64_t from, int64_t total) {
  Hung run;
  int64_t done = from;
  for (int64_t minute = 0; minute < 210; ++minute) {
    run.wait(60);
    if (minute < minutes && done < total) run.say(event::Counted{"rollouts", done++, total});
    if (minute < minutes && done == total && from == 1) done = 0;  // it begins anew, as the tries of a request do
    run.talk(1);
  }
  run.say(event::SourceEnded{0, 0, false, "still here"});
  return run.summary();
}

TEST_CASE("a step whose work is counted and goes on is no stall, one whose count stands still is") {
  CHECK(counted_for(210, 0, 400).empty());
  CHECK(counted_for(190, 0, 400).empty());  // it moved twenty minutes ago
  CHECK(contains(counted_for(60, 0, 400), "; its count of \"rollouts\" has stood at 59 of 400 for 2h 30m"));
  CHECK(contains(counted_for(0, 0, 400), "No step after 40"));
  CHECK(contains(counted_for(210, 1, 10), "No step after 40"));  // which moves, and gets nowhere
}

TEST_CASE("a hang that a signal ended is reported, and leads") {
  Hung run;
  run.wait(3 * 3600.0);
  run.say(event::Matched{"user-cancelled", "Received 15 death signal, shutting down workers"});
  CHECK(run.summary() == "No step after 40 for 3h 00m, until it was stopped; a step usually takes 1m 00s");
  CHECK(run.verdict() == "interrupted");
  Hung recorded;
  recorded.wait(3 * 3600.0);
  recorded.say(event::Ended{event::Ended::How::kInterrupted, -15, "as midwatch was asked to stop"});
  CHECK(recorded.summary().starts_with("No step after 40 for 3h 00m"));
}

TEST_CASE("an evaluation that was announced is no hang, one that was over by then is none's excuse") {
  Hung run;
  run.say(event::PhaseBegan{"eval"});
  run.wait(3 * 3600.0);
  run.say(event::Matched{"user-cancelled", "Received 15 death signal, shutting down workers"});
  CHECK(run.summary().empty());
  Hung later;
  later.say(event::PhaseBegan{"eval"});
  for (int64_t step = 41; step <= 43; ++step) {
    later.wait(60);
    later.measured(step);
  }
  later.wait(3 * 3600.0);
  later.say(event::Matched{"user-cancelled", "Received 15 death signal, shutting down workers"});
  CHECK(later.summary().starts_with("No step after 43 for 3h 00m"));
}

TEST_CASE("what was short, spoke, was done, or went on is no hang") {
  const auto ended = [](Hung& run) {
    run.say(event::Matched{"user-cancelled", "Received 15 death signal"});
    return run.summary();
  };
  Hung brief;
  brief.wait(1500);
  CHECK(ended(brief).empty());
  Hung speaks;
  speaks.wait(3600);
  speaks.talk(400);
  CHECK(ended(speaks).empty());
  Hung done(40);
  done.wait(3 * 3600.0);
  CHECK(ended(done).empty());
  Hung said(0);
  said.done();
  said.wait(3 * 3600.0);
  CHECK(ended(said).empty());
  Hung unplanned(0);
  unplanned.wait(3 * 3600.0);
  CHECK(ended(unplanned).ends_with("no plan says that more was to come: it may have been done"));
  Hung went_on;
  went_on.wait(3 * 3600.0);
  went_on.measured(41);
  CHECK(ended(went_on) == "Step 41 took 3h 00m where a step usually takes 1m 00s; then the run went on");
  Hung evaluated;  // and the record says so
  evaluated.wait(3 * 3600.0);
  evaluated.say(event::Measured{41, false, {{"reward.mean", "reward", 0.6}, {"time.eval", "testing", 10'000}}});
  CHECK(ended(evaluated).empty());
  Hung evaluates;
  evaluates.wait(3 * 3600.0);
  evaluates.say(event::PhaseEnded{"eval", 3 * 3600.0 - 60, kNoStep});
  evaluates.wait(60);
  CHECK(ended(evaluates).empty());
  Hung lives;  // for half an hour after the silence
  lives.wait(3 * 3600.0);
  lives.say(event::Logged{event::Logged::Level::kWarning, 1, "the cache is cold"});
  lives.wait(1800);
  CHECK(ended(lives).empty());
  Hung crashed;  // what ended it says why itself
  crashed.wait(3 * 3600.0);
  crashed.say(event::Matched{"nccl-watchdog-timeout", "Watchdog caught collective operation timeout"});
  CHECK(crashed.summary().empty());
  Hung paused;
  paused.say(event::Intended{1, "pause", "attempt 1", 0, ""});
  paused.wait(3 * 3600.0);
  CHECK(ended(paused).empty());
}

TEST_CASE("processes that rested shorten the patience") {
  const auto after = [](double seconds, double processors) {
    Hung run;
    run.machine(12, 1);
    for (int64_t step = 41; step <= 45; ++step) {
      run.wait(60);
      run.measured(step);
    }
    run.machine(processors, processors > 1 ? 1 : 0);
    run.wait(seconds);
    run.say(event::Ended{event::Ended::How::kInterrupted, -15, "as midwatch was asked to stop"});
    return run.summary();
  };
  CHECK(after(600, 0.1) ==
        "No step after 45 for 10m 00s while its processes did next to nothing, until it was stopped; a step usually "
        "takes 1m 00s");
  CHECK(after(600, 12).empty());
  CHECK(after(200, 0.1).empty());
}

TEST_CASE("what a live watch saw of a hang stays known after the end, where the lines have no clock") {
  State state;
  const Knowledge knowledge;
  double seconds = 0;
  uint64_t lines[2] = {0, 0};
  const auto say = [&](auto body, uint32_t source = 0) {
    const Time now = Time::from_seconds(1'700'000'000 + seconds);
    Event event{source == 0 ? Time{} : now, {source, ++lines[source]}, std::move(body), now};
    std::vector<Event> decided;
    advance(state, event, knowledge, Judge::kAtClose, decided);
  };
  const auto measure = [&](double processors, double silent) {
    say(event::Measured{kNoStep,
                        false,
                        {{"process.cpu", "run", processors},
                         {"gpu.busy", "0", 0.0},
                         {"log.silent", "run", silent},
                         {"step.usual", "run", 20.0},
                         {"step.longest", "run", 25.0}}},
        1);
  };
  say(event::SourceOpened{0, "train.log", "text", 0});
  say(event::SourceOpened{1, "host:machine", std::string(kHostKind), 0}, 1);
  say(event::AttemptBegan{"launcher"});
  say(event::Planned{100});
  measure(8, 0);
  for (int64_t step = 1; step <= 30; ++step) {
    seconds += 20;
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.5}}});
  }
  for (int i = 0; i < 12; ++i) {
    seconds += 60;
    measure(0.1, 60.0 * (i + 1));
  }
  const auto stalls = [&] {
    std::string said;
    for (const Incident& one : judge(state, knowledge)) said += one.kind == "stall" ? one.summary : "";
    return said;
  };
  const std::string live = stalls();
  CHECK(live.starts_with("None of the run's files said anything for "));
  seconds += 5;
  say(event::Ended{event::Ended::How::kInterrupted, -15, "as midwatch was asked to stop"});
  measure(0, 0);
  CHECK(stalls() == live);
  measure(0, 3600);  // nobody writes after the end
  CHECK(stalls() == live);
}

/// Forty steps of a minute whose records have no clock, under a bar that says how long it took; then two hours with a
/// line every minute.
std::string stall_by_bar(bool bar, double waits, int64_t plan = 200, uint32_t speaker = 0) {
  State state = PlantedRun().state;
  const Knowledge knowledge;
  uint64_t line = 0;
  const auto say = [&](auto body, double seconds, uint32_t source = 0) {
    Event event;
    if (seconds >= 0) event.at = Time::from_seconds(1'700'000'000 + seconds);
    event.where = {source, ++line};
    event.body = std::move(body);
    std::vector<Event> decided;
    advance(state, event, knowledge, Judge::kAtClose, decided);
  };
  say(event::Matched{"engine-ready", "ready"}, 0);
  say(event::Planned{plan}, -1);
  for (int64_t step = 1; step <= 40; ++step) {
    say(event::Measured{step, false, {{"reward.mean", "reward", 0.5 + 0.01 * static_cast<double>(step % 5)}}}, -1);
    if (bar) say(event::Progressed{"Training Progress", step, plan, 60.0 * static_cast<double>(step)}, -1);
  }
  if (speaker != 0) say(event::SourceOpened{speaker, "server.log", "text", 0}, -1, speaker);
  for (double minute = 1; minute <= waits; ++minute)
    say(event::Matched{"heartbeat", "running: 244"}, 2400 + 60 * minute, speaker);
  say(event::Closed{}, -1);
  std::string said;
  for (const Incident& one : judge(state, knowledge)) {
    if (one.kind == "stall") said += one.summary;
  }
  return said;
}

TEST_CASE("records without a clock: the bar over the steps and the clocks of other lines show that none comes") {
  CHECK(contains(stall_by_bar(true, 120), "No step after 40 for 1h 59m; a step usually takes 1m 00s"));
  CHECK(stall_by_bar(true, 20).empty());
  CHECK(stall_by_bar(false, 120).empty());
  CHECK(stall_by_bar(true, 120, 40).empty());
  CHECK(stall_by_bar(true, 120, 200, 1).empty());  // nothing behind the bar's own lines says when it was begun
}

}  // namespace
}  // namespace mw
