#include "act/supervise/resume.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "core/attempts.h"
#include "platform/fake/fake_disk.h"

namespace mw {
namespace {

using Words = std::vector<std::string>;

struct Trainer {
  FakeDisk disk;
  State state;
  CheckpointLayout layout{"step_{step}", "latest", "{step}", {{"", {"--resume", "{path}"}}}};
  RunSpec spec;

  Trainer() {
    spec.command = {"python", "train.py", "{resume}"};
    spec.folder = "/run";
    spec.checkpoints = {"/run/ck"};
    state.framework = "sometrainer";
    state.attempts.emplace_back();
  }
  void on_disk(int64_t step) { disk.put(cat("/run/ck/step_", step, "/model"), "x"); }
  void said(int64_t step, bool complete = true) {
    state.checkpoints.push_back({{step, {}, {}, 0, false}, {step, cat("ck/step_", step), complete}});
    if (complete) state.attempts.back().last_checkpoint = step;
  }
  Result<Resume> plan(int64_t suspect = kNoStep) { return plan_resume(disk, state, layout, spec, suspect); }
};

TEST_CASE("{resume} becomes as many words as there are, or none, or stands quoted for a shell") {
  CHECK_FALSE(asks_to_resume({"a", "b"}));
  CHECK(asks_to_resume({"bash", "-c", "train {resume}"}));
  CHECK(with_resume({"a", "{resume}", "b"}, {}) == Words{"a", "b"});
  CHECK(with_resume({"a", "{resume}"}, {"-r", "x y"}) == Words{"a", "-r", "x y"});
  CHECK(with_resume({"sh", "-c", "t {resume} && u"}, {"-r", "it's"}) == Words{"sh", "-c", "t -r 'it'\\''s' && u"});
  CHECK(with_resume({"sh", "-c", "t {resume}"}, {}) == Words{"sh", "-c", "t "});
}

TEST_CASE("the newest whole checkpoint, not the highest number") {
  Trainer of;
  auto plan = of.plan();
  REQUIRE(plan.ok());
  CHECK(plan->words.empty());  // there is none
  of.on_disk(10);
  of.on_disk(20);
  of.on_disk(30);  // the save was cut short: the pointer is still at 20
  of.disk.put("/run/ck/latest", "20");
  plan = of.plan();
  REQUIRE(plan.ok());
  CHECK(plan->step == 20);
  CHECK(plan->words == Words{"--resume", "/run/ck/step_20"});
  of.layout.pointer.clear();
  of.said(10);
  CHECK(of.plan()->step == 10);  // the run said that this one was saved
  of.said(20, false);
  CHECK(of.plan()->step == 10);
  of.state.checkpoints.clear();
  CHECK(of.plan()->step == 30);  // nobody tells
  for (const int64_t step : {10, 20, 30}) of.said(step, false);
  of.state.attempts.back().last_step = 30;
  CHECK(of.plan()->step == 20);  // nothing was trained after the last one was begun
}

TEST_CASE("what an earlier training of the command saved is nothing to resume from") {
  Trainer of;
  of.state.attempts.back().why = kKeeperBegan;
  of.state.attempts.back().first_step = 1;
  of.state.attempts.back().last_step = of.state.attempts.back().total_steps = 60;
  of.disk.put("/run/ck/A/step_60/model", "x");
  of.disk.put("/run/ck/A/latest", "60");
  of.state.checkpoints.push_back({{60, {}, {}, 0, false}, {60, "ck/A/step_60", true}});
  CHECK(of.plan()->words == Words{"--resume", "/run/ck/A/step_60"});
  of.state.attempts.emplace_back();
  of.state.attempts.back().first_step = 1;
  of.state.attempts.back().last_step = 7;
  CHECK(of.plan()->words.empty());
  of.disk.put("/run/ck/B/step_10/model", "x");
  of.disk.put("/run/ck/B/latest", "10");
  of.state.checkpoints.push_back({{10, {}, {}, 1, false}, {10, "ck/B/step_10", true}});
  of.state.attempts.back().last_step = 13;
  CHECK(of.plan()->words == Words{"--resume", "/run/ck/B/step_10"});
}

TEST_CASE("a save far beyond the steps that were trained is quoted, and none to resume from") {
  Trainer of;
  of.spec.checkpoints.clear();
  of.layout.pointer.clear();
  of.layout.resume = {{"", {"--resume.step", "{step}"}}};
  of.said(10);
  of.said(20);
  of.state.attempts.back().last_step = 19;  // the step that it saves is not logged yet
  of.state.checkpoints.push_back({{19, {}, {}, 0, false}, {900, "", true}});
  CHECK(of.plan()->words == Words{"--resume.step", "20"});
  of.state.attempts.back().last_step = 895;
  CHECK(of.plan()->words == Words{"--resume.step", "900"});
}

TEST_CASE("none that was saved since the data turned to poison, and none of them when all were") {
  Trainer of;
  for (const int64_t step : {10, 20, 30}) {
    of.on_disk(step);
    of.said(step);
  }
  of.disk.put("/run/ck/latest", "30");
  CHECK(of.plan(20)->words == Words{"--resume", "/run/ck/step_10"});
  CHECK(of.plan(10)->words.empty());
}

TEST_CASE("a checkpoint that the run reported and that is no longer there is none to resume from") {
  Trainer of;
  of.layout.folder.clear();
  of.spec.checkpoints.clear();
  of.on_disk(10);
  of.said(10);
  of.said(20);  // it was quarantined, or deleted
  CHECK(of.plan()->step == 10);
  CHECK(of.plan()->words == Words{"--resume", "/run/ck/step_10"});
}

TEST_CASE("by what the run's files say, where its folders have no known shape") {
  Trainer of;
  of.layout.folder.clear();
  of.spec.checkpoints.clear();
  of.said(10);
  CHECK_FALSE(of.plan().ok());  // it is not on the disk
  of.on_disk(10);
  CHECK(of.plan()->words == Words{"--resume", "/run/ck/step_10"});
  of.spec.resume = {"--load={root}", "--at", "{step}"};
  CHECK(of.plan()->words == Words{"--load=/run/ck", "--at", "10"});
}

TEST_CASE("words that fit the command's own; a trainer that resumes by itself; one of which nothing is known") {
  Trainer of;
  of.on_disk(10);
  of.said(10);
  of.layout.resume = {{"--ckpt.", {"--ckpt.load"}}, {"", {"--load"}}};
  CHECK(of.plan()->words == Words{"--load"});
  of.spec.command.push_back("--ckpt.path=x");
  CHECK(of.plan()->words == Words{"--ckpt.load"});
  of.layout.resume = {{"", {}}};
  CHECK(of.plan()->words.empty());
  of.layout.resume.clear();
  const auto plan = of.plan();
  REQUIRE_FALSE(plan.ok());
  CHECK(contains(plan.error().what, "sometrainer resumes are not known"));
  CHECK(contains(plan.error().hint, "[run]"));
  Judgement judgement;
  judgement.decision = {EndClass::kUnknown, true, {}, "It died.", 0};
  REQUIRE(plan_next(of.disk, of.state, of.layout, of.spec, Ownership(), judgement).ok());
  CHECK_FALSE(judgement.decision.restart);
  CHECK(contains(judgement.decision.why, "It died. But the command has {resume}"));
  of.spec.resume = {"-r"};
  judgement.decision.restart = true;
  REQUIRE(plan_next(of.disk, of.state, of.layout, of.spec, Ownership(), judgement).ok());
  CHECK(judgement.decision.restart);
  fold(of.state, {{}, {}, decided_event(1, judgement)});
  const Judgement back = judgement_of(*of.state.supervision.attempt(1));
  CHECK(back.resume.words == Words{"-r"});
  CHECK(back.resume.step == 10);
}

TEST_CASE("what a person learns while there is time") {
  Trainer of;
  CHECK_FALSE(resume_trouble(of.disk, of.state, of.layout, of.spec, {}));  // no checkpoint yet
  of.on_disk(10);
  of.said(10);
  CHECK(resume_trouble(of.disk, of.state, of.layout, of.spec, {}) == "");
  const Resume planned{10, "/run/ck/step_10", {"-r"}};
  of.state.attempts.back().resumed_at = 5;
  CHECK(resume_trouble(of.disk, of.state, of.layout, of.spec, planned) ==
        "it was to resume from step 10 and resumed from step 5");
  of.state.attempts.back().resumed_at = 10;
  CHECK(resume_trouble(of.disk, of.state, of.layout, of.spec, planned) == "");
  of.layout.resume.clear();
  CHECK(contains(*resume_trouble(of.disk, of.state, of.layout, of.spec, planned), "would end the run"));
}

TEST_CASE("words name a checkpoint, or only let the trainer resume from what its pointer names") {
  CheckpointLayout layout{"global_step{step}", "latest", "global_step{step}"};
  RunSpec spec;
  spec.command = {"train", "{resume}"};
  CHECK(names_checkpoint(layout, spec));  // none are known
  layout.resume = {{"--ckpt.", {"--ckpt.load_enable"}}, {"", {"--resume", "{path}"}}};
  CHECK(names_checkpoint(layout, spec));
  spec.resume = {"--resume=step-{step}"};
  CHECK(names_checkpoint(layout, spec));
  spec.resume = {"--load", "{root}"};
  CHECK_FALSE(names_checkpoint(layout, spec));
  spec.resume.clear();
  spec.command.emplace_back("--ckpt.path=ck");
  CHECK_FALSE(names_checkpoint(layout, spec));
  spec.command = {"train"};
  CHECK_FALSE(names_checkpoint(layout, spec));
}

}  // namespace
}  // namespace mw
