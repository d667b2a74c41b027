#include "ui/report/status.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "ui/testing/fake_run.h"

namespace mw {
namespace {

/// Attempts of an hour, a step every 20 s, a save of 30 s every 50 steps: seldom, for a run that ends so often.
FakeRun often_ended() {
  FakeRun run;
  run.at = Time::from_seconds(1'000'000);
  int64_t step = 0;
  for (int attempt = 0; attempt < 4; ++attempt) {
    run.say(event::AttemptBegan{"banner"});
    if (attempt > 0) run.say(event::Resumed{step, ""});
    for (int i = 0; i < 180; ++i) {
      run.at = run.at + Duration::seconds(20);
      run.measure(++step, 20, "time.step", "s/step");
      if (step % 50 != 0) continue;
      run.measure(step, 30, "time.save", "s/save");
      run.say(event::CheckpointSaved{step, "", true});
    }
  }
  return run;
}

TEST_CASE("of checkpoints that are found on the disk, in whichever order, status shows the newest of this run") {
  FakeRun run;
  run.at = Time::from_seconds(1'000'000);
  const auto found = [&run](int64_t step) {
    fold(run.state,
         {run.at, {1, static_cast<uint64_t>(step)}, event::CheckpointSaved{step, cat("/ck/step_", step), true}});
  };
  fold(run.state, {run.at, {1, 0}, event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}});
  run.say(event::AttemptBegan{"banner"});
  for (int64_t step = 1; step <= 20; ++step) run.measure(step, 0.5, "reward.mean", "reward");
  for (const int64_t step : {9, 15, 12, 106}) found(step);
  CHECK(contains(terminal_run_status(run.state, RunStatus(), Console{}), "checkpoint  step 15, 5 steps ago"));
}

TEST_CASE("status forecasts the next save, and gives a better interval as a change of the trainer's setting") {
  const FakeRun run = often_ended();
  RunStatus how;
  CHECK(terminal_run_status(run.state, how, Console{})
            .find("next save   at step 750, in about 10m 00s; takes about 30.0 s") != std::string::npos);
  CHECK(status_json(run.state, how).find("\"save_change\":\"\"") != std::string::npos);
  how.save_setting = "trainer.save_freq";
  CHECK(terminal_run_status(run.state, how, Console{}).find("trainer.save_freq: 50 -> 26") != std::string::npos);
  const std::string json = status_json(run.state, how);
  CHECK(json.find("\"save_change\":\"trainer.save_freq: 50 -> 26\"") != std::string::npos);
  CHECK(json.find("\"next_save\":{\"step\":750,\"in_s\":600,\"takes_s\":30,\"bytes\":null,\"disk\":\"\"") !=
        std::string::npos);
  CHECK(json.find("\"fits\":true") != std::string::npos);
  CHECK(status_json(State(), how).find("\"next_save\":null") != std::string::npos);
}

TEST_CASE("of a run that was to end it is said by whom") {
  FakeRun run;
  run.say(event::AttemptBegan{"banner"});
  RunStatus how;
  how.supervised = true;
  how.attempt = 1;
  how.phase = RunStatus::Phase::kOver;
  how.why = "A stop was requested.";
  const auto text = [&] { return terminal_run_status(run.state, how, Console{}); };
  CHECK(text().find("Requested by") == std::string::npos);
  run.say(event::Requested{"stop", "mira@node7"});
  CHECK(text().find("A stop was requested. Requested by mira@node7.") != std::string::npos);
  run.say(event::Requested{"stop", std::string(kByMidwatch)});
  CHECK(text().find("Requested by a signal to") != std::string::npos);
}

TEST_CASE("a pause is shown, and what it waits for") {
  FakeRun run;
  run.say(event::AttemptBegan{"banner"});
  RunStatus how;
  how.supervised = true;
  how.attempt = 1;
  how.watcher = 4711;
  const auto text = [&] {
    std::string words = terminal_run_status(run.state, how, Console{});
    for (size_t at = 0; (at = words.find("\n ", at)) != std::string::npos;) {  // wrapped lines
      words.erase(at, 1);
      while (words[at] == ' ' && words[at + 1] == ' ') words.erase(at, 1);
    }
    return words;
  };
  how.phase = RunStatus::Phase::kWaiting;
  CHECK(text().starts_with("WAITING TO RESTART  "));
  CHECK(contains(text(), "Attempt 2 begins now"));
  run.say(event::Requested{"pause", "mira@node7"});
  CHECK(text().starts_with("PAUSED  "));
  CHECK(contains(text(), "Attempt 2 begins after midwatch resume: the run is paused"));
  how.phase = RunStatus::Phase::kPaused;
  CHECK(contains(text(), "paused (midwatch resume continues it)"));
  how.watcher = 0;
  how.pid = 9;
  CHECK(text().starts_with("NOT WATCHED, PAUSED  "));
  CHECK_FALSE(contains(text(), "the command goes on"));
  how.watcher = 4711;
  run.say(event::Requested{"resume", "mira@node7"});
  run.say(event::Requested{"pause", std::string(kByComponent)});
  CHECK(contains(text(), "paused while a component that it needs is restarted"));
  how.phase = RunStatus::Phase::kWaiting;
  CHECK(contains(text(), "Attempt 2 begins when the component that it needs answers"));
}

TEST_CASE("of a run that is over no engine is well, and nobody is thought to watch it") {
  FakeRun run;
  run.say(event::AttemptBegan{"banner"});
  run.measure(4, 0.5);
  run.say(event::CheckpointSaved{3, "", true});
  event::ComponentSaw saw;
  saw.component = "engine (7)";
  saw.kind = "engine";
  run.say(event::ComponentSaw(saw));
  RunStatus how;
  how.supervised = how.elsewhere = true;
  how.phase = RunStatus::Phase::kRunning;
  CHECK(terminal_run_status(run.state, how, Console{}).find("engine (7), engine: well") != std::string::npos);
  CHECK(status_json(run.state, how).find("\"supervised\":true,\"held\":true") != std::string::npos);
  how.phase = RunStatus::Phase::kOver;
  const std::string over = terminal_run_status(run.state, how, Console{});
  CHECK(over.find("engine (7)") == std::string::npos);
  CHECK(over.find("nobody: the run is over") != std::string::npos);
  CHECK(over.find("step 3, 1 step ago") != std::string::npos);
  CHECK(status_json(run.state, how).find("\"components\":[]") != std::string::npos);
  saw.health = event::ComponentSaw::Health::kDead;
  saw.text = "it was ended by signal 9";
  run.say(event::ComponentSaw(saw));
  CHECK(terminal_run_status(run.state, how, Console{}).find("it was ended by signal 9") != std::string::npos);
}

}  // namespace
}  // namespace mw
