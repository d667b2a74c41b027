#include "act/supervise/gone_saves.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/checkpoint_trust.h"
#include "core/resume_advice.h"
#include "core/said_run_for_test.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

using Seen = event::CheckpointSeen::How;

const CheckpointLayout kSteps{"step_{step}", "", ""};

/// It was killed at step 45, after saves at 10, 20, 30 and 40 of which the last is broken.
struct Killed : SaidRun {
  FakeDisk disk;
  Killed() {
    say(event::SourceOpened{0, "train.log", "text", 0});
    say(event::SourceOpened{1, "host:checkpoints", std::string(kHostKind), 0}, 1);
    for (int64_t step = 1; step <= 45; ++step) {
      say(event::Measured{step, false, {{"reward.mean", "r", 0.5}}});
      if (step % 10 == 0) say(event::CheckpointSaved{step, cat("/c/step_", step), step < 30});
    }
    for (const int64_t step : {20, 30}) seen(step, Seen::kWhole);
    seen(40, Seen::kBroken);
    disk.put("/c/step_40/model.safetensors", "");
    state.verdict = "crashed";
  }
  void seen(int64_t step, Seen how) {
    say(event::CheckpointSeen{step, cat("/c/step_", step), how, "", "", 100, 2, ""}, 1);
  }
  std::string find() {
    std::string steps;
    for (event::CheckpointSeen& one : gone_saves(disk, state, kSteps, {"/c"}, "/")) {
      CHECK(is_gone(one));
      steps += cat(steps.empty() ? "" : " ", one.step);
      say(std::move(one), 1);
    }
    state.verdict = "crashed";
    return steps;
  }
};

TEST_CASE("nobody is sent to a save that does not lie on the disk any more") {
  Killed run;
  REQUIRE(resume_advice(run.state).has_value());
  CHECK(resume_advice(run.state)->step == 30);
  CHECK(run.find() == "30 20 10");
  REQUIRE(resume_advice(run.state).has_value());
  CHECK(resume_advice(run.state)->step == kNoStep);
  CHECK(run.find().empty());
  CHECK_FALSE(only_doubted(run.state).has_value());
  run.seen(20, Seen::kWhole);  // somebody put it back
  run.state.verdict = "crashed";
  CHECK(resume_advice(run.state)->step == 20);
}

TEST_CASE("behind those that are there, and were saved since the onset, nobody is sent to one that is gone") {
  Killed run;
  for (const int64_t step : {30, 40}) run.disk.put(cat("/c/step_", step, "/model.safetensors"), "x");
  Incident bad;
  bad.kind = "zero-reward";
  bad.severity = Severity::kCritical;
  bad.open = true;
  bad.onset.step = 25;
  run.state.incidents = {bad};
  CHECK(resume_advice(run.state)->step == 20);
  std::string steps;
  for (const event::CheckpointSeen& one : gone_saves(run.disk, run.state, kSteps, {"/c"}, "/"))
    steps += cat(steps.empty() ? "" : " ", one.step);
  CHECK(steps == "20 10");
}

TEST_CASE("a log that names no path: what lies in none of the folders in which the run saves is gone") {
  Killed run;
  for (auto& [moment, saved] : run.state.checkpoints) saved.path.clear();
  run.state.checkpoint_scans.erase(run.state.checkpoint_scans.begin(), run.state.checkpoint_scans.end() - 1);
  CHECK(run.find() == "30 20 10");
  CHECK(resume_advice(run.state)->step == kNoStep);
}

TEST_CASE("what is there, or lay in a folder that cannot be listed, is not called gone") {
  Killed run;
  run.disk.put("/c/step_30/model.safetensors", "x");
  CHECK(run.find().empty());
  CHECK(resume_advice(run.state)->step == 30);
  Killed unmounted;
  unmounted.disk.remove("/c/step_40/model.safetensors").ok();
  FakeDisk none;
  CHECK(gone_saves(none, unmounted.state, kSteps, {"/c"}, "/").empty());
}

}  // namespace
}  // namespace mw
