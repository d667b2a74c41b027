#include <doctest/doctest.h>

#include <string>

#include "base/text.h"
#include "core/plan_bar.h"
#include "ui/testing/fake_run.h"
#include "ui/view/overview.h"

namespace mw {
namespace {

Incident& without_cause(Incident& incident) {
  incident.causes.clear();
  return incident;
}

TEST_CASE("the headline names a step once") {
  FakeRun run;
  run.say(event::Planned{212});
  run.measure(1, 0.5).measure(2, 0.5);
  run.state.verdict = "unknown";
  without_cause(run.incident("died-silently", Severity::kWarning, 2,
                             "The files end at step 2 of 212 with no error and no end", "x"));
  CHECK(status_line(run.state).rest == "died-silently: The files end at step 2 of 212 with no error and no end.");
}

TEST_CASE("a step that is only the beginning of the summary's is still named") {
  FakeRun run;
  run.measure(7, 0.5).measure(75, 0.5);
  run.state.verdict = "finished";
  without_cause(run.incident("zero-reward", Severity::kCritical, 7, "Reward is 0 to step 75", "x"));
  CHECK(status_line(run.state).rest == "finished, steps 7 to 75. zero-reward since step 7: Reward is 0 to step 75.");
}

TEST_CASE("what a person or a scheduler ended is interrupted, not crashed") {
  FakeRun run;
  run.measure(6, 0.5);
  run.state.verdict = "crashed";
  without_cause(run.incident("interrupted", Severity::kWarning, 6, "The run was stopped from outside", "x"));
  const StatusLine line = status_line(run.state);
  CHECK(line.word == "INTERRUPTED");
  CHECK(line.rest == "step 6. The run was stopped from outside.");
  CHECK(line.mood == StatusLine::Mood::kDoubt);
}

TEST_CASE("what else was said at the time is not quoted as the failure's own words") {
  FakeRun run;
  run.state.verdict = "crashed";
  Incident& incident = run.incident("resource-limit", Severity::kCritical, kNoStep, "A port is already taken", "");
  incident.evidence = {{incident.onset.where, "Address already in use", "", kNoStep, 0},
                       {{0, 34}, "KeyError: 'psutil'", "", kNoStep, 0}};
  incident.causes[0].reasons_for = {"seen first: Address already in use"};
  CHECK_FALSE(contains(status_line(run.state).rest, "It says"));
  incident.causes[0].reasons_for = {"seen with it: KeyError: 'psutil'"};  // the cause rests on it
  CHECK(contains(status_line(run.state).rest, "It says: KeyError: 'psutil'"));
}

TEST_CASE("that an exception was raised is no cause in the first line") {
  FakeRun run;
  run.state.verdict = "crashed";
  Incident& incident = run.incident("code-error", Severity::kCritical, kNoStep, "RuntimeError ended the run: x", "x");
  incident.causes[0].title = "The program raised RuntimeError.";
  CHECK_FALSE(contains(status_line(run.state).rest, "cause"));
  incident.causes[0].title = "A service answered with an error.";
  CHECK(contains(status_line(run.state).rest, "Likely cause: A service answered with an error."));
}

TEST_CASE("nor is what the summary says in figures") {
  FakeRun run;
  Incident& incident =
      run.incident("throughput-drop", Severity::kWarning, 16, "A step takes 138 s instead of 67 s", "x");
  incident.causes[0].title = "Steps go on but take clearly longer.";
  incident.causes[0].id = "slow-step-degradation";
  CHECK_FALSE(contains(status_line(run.state).rest, "cause"));
  incident.causes[0].id = "longer-responses";
  CHECK(contains(status_line(run.state).rest, "cause"));
}

TEST_CASE("the bar over the plan says how far the run came behind its last record") {
  FakeRun run;
  run.say(event::Planned{62});
  run.measure(50, 0.5).measure(60, 0.5);
  run.say(event::Progressed{"Map", 62, 62});  // of something else that has as many
  CHECK(status_line(run.state).rest == "step 60 of 62");
  run.say(event::Progressed{"", 62, 62});
  CHECK(status_line(run.state).rest == "step 62 of 62");
  run.say(event::AttemptBegan{"launcher"});
  run.measure(10, 0.5).measure(20, 0.5);
  CHECK(status_line(run.state).rest == "step 20 of 62 after step 60 of an earlier attempt, attempt 2");
  run.say(event::Progressed{"", 24, 62});
  CHECK(status_line(run.state).rest == "step 24 of 62 after step 60 of an earlier attempt, attempt 2");
}

TEST_CASE("steps counted from 0 are all there") {
  FakeRun run;
  run.say(event::Planned{3});
  run.measure(0, 0.5).measure(1, 0.5).measure(2, 0.5);
  run.state.verdict = "finished";
  CHECK(status_line(run.state).rest == "all 3 steps");
  run.state.verdict = "crashed";
  CHECK(status_line(run.state).rest == "steps 0 to 2");  // the last of them may not be the last of the plan
}

TEST_CASE("the run is where its last attempt is") {
  FakeRun run;
  run.say(event::Planned{60});
  run.measure(49, 0.5).measure(50, 0.5);
  run.say(event::AttemptBegan{"launcher"});
  run.measure(1, 0.5).measure(2, 0.5);
  run.state.verdict = "unknown";
  CHECK(status_line(run.state).rest == "step 2 of 60 after step 50 of an earlier attempt, attempt 2");
}

TEST_CASE("what is over is named where nothing stands") {
  FakeRun run;
  run.measure(1, 0.5);
  run.state.verdict = "finished";
  run.incident("code-error", Severity::kCritical, 1, "A result could not be written", "x").open = false;
  run.incident("network", Severity::kInfo, 1, "Nothing listens there", "x");
  const StatusLine line = status_line(run.state);
  CHECK(line.word == "FINISHED");
  CHECK(line.rest == "step 1; over: #1 code-error");
}

TEST_CASE("the failure's own words end where a sentence ends, and are no frame of a traceback") {
  FakeRun run;
  run.measure(8, 0.5);
  run.state.verdict = "crashed";
  Incident& incident = without_cause(run.incident(
      "gpu-out-of-memory", Severity::kCritical, 8, "The training process ran out of GPU memory",
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.84 GiB. GPU 0 has a total capacity of 79.33 GiB "
      "of which 1.59 GiB is free. Process 151613 has 77 GiB in use and so on and so forth"));
  CHECK(
      status_line(run.state).rest ==
      "step 8. gpu-out-of-memory since step 8: The training process ran out of GPU memory. It says: "
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.84 GiB. GPU 0 has a total capacity of 79.33 GiB "
      "of which 1.59 GiB is free.");
  incident.evidence.front().text = "File \"/srv/a.py\", line 3, in f";
  CHECK(status_line(run.state).rest ==
        "step 8. gpu-out-of-memory since step 8: The training process ran out of GPU memory.");
}

TEST_CASE("a keeper's line is no word of the run") {
  FakeRun run;
  run.state.verdict = "crashed";
  without_cause(
      run.incident("crash", Severity::kCritical, kNoStep, "The run ended with status 1 and no error of its own",
                   "=== midwatch: attempt 1 ended 2026-11-26T20:21:01Z (45acdbea2af6ae38), exit status 1 ==="));
  CHECK_FALSE(contains(status_line(run.state).rest, "It says"));
}

TEST_CASE("a program without a step ended in order; what it saved says how far it came") {
  FakeRun run;
  run.incident("network", Severity::kWarning, kNoStep, "The hub refused a request", "x");
  run.state.verdict = "finished";
  CHECK(status_line(run.state).rest.starts_with("ended in order, no training step seen. network: "));
  run.say(event::CheckpointSaved{40, "out/step_40.pt", true}).say(event::CheckpointSaved{80, "out/step_80.pt", true});
  CHECK(status_line(run.state).rest.starts_with(
      "ended in order, a checkpoint of step 80 was saved; no record of a training step. network: "));
  CHECK(last_step_known(run.state) == 80);
  run.measure(4, 0.5);
  CHECK(last_step_known(run.state) == 4);
}

TEST_CASE("where no step is seen, a last attempt that ended well has overcome what ended those before it") {
  FakeRun run;
  const auto end = [&run](int64_t code) {
    event::Ended ended;
    ended.how = event::Ended::How::kExit;
    ended.code = code;
    run.say(event::AttemptBegan{"launcher"}).say(std::move(ended));
  };
  end(1);
  run.incident("crash", Severity::kCritical, kNoStep, "The run ended with status 1", "x");
  run.state.verdict = "finished";
  CHECK(status_line(run.state).word == "CRITICAL");
  SUBCASE("well") {
    end(0);
    CHECK(status_line(run.state).word == "ENDED");  // nothing was seen of a training
    CHECK(status_line(run.state).rest == "no training step seen, attempt 2; 1 incident of earlier attempts overcome");
  }
  SUBCASE("not well") {
    end(3);
    CHECK(status_line(run.state).word == "CRITICAL");
  }
}

TEST_CASE("a silent end is not given one of its own explanations as its cause") {
  FakeRun run;
  run.measure(8, 0.5);
  Incident& incident = run.incident("died-silently", Severity::kWarning, 8, "The files end", "x");
  incident.causes.front().title = "A person stopped the run.";
  incident.causes.front().score = 0.4;
  CHECK(status_line(run.state).rest.find("person") == std::string::npos);
  incident.causes.front().score = 0.9;
  CHECK(status_line(run.state).rest.find("Likely cause: A person stopped the run.") != std::string::npos);
}

TEST_CASE("a bar whose title says that it is of training says how far that came where no record does") {
  FakeRun run;
  run.say(event::Progressed{"Tokenizing train dataset", 9000, 9000});
  CHECK(status_line(run.state).rest == "no training step seen");
  run.say(event::Progressed{"PG Training", 400, 500});
  CHECK(status_line(run.state).rest == "PG Training at 400 of 500; no record of a training step");
}

}  // namespace
}  // namespace mw
