// Whose checkpoints go by a rule.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "act/cleanup/place_for_test.h"
#include "sense/checkpoints/manifest.h"

namespace mw {
namespace {

TEST_CASE("what the trainer itself calls the best one stays") {
  Place p;
  p.settings.keep_last = 1;
  p.settings.what = {"old-checkpoints"};
  for (const int step : {5, 10, 15, 20}) p.whole(step);
  CHECK(p.plan() == Names{"step_5", "step_10", "step_15"});
  p.disk.put("/data/ck/step_20/trainer_state.json",
             R"({"best_metric": 0.5, "best_model_checkpoint": "out/step_10", "epoch": 1})");
  CHECK(p.plan() == Names{"step_5", "step_15"});
}

TEST_CASE("where another trainer may have saved, too, no rule deletes what nothing but its times makes this run's") {
  Place p;
  p.settings.keep_last = 1;
  p.settings.what = {"old-checkpoints", "broken-checkpoints"};
  p.scope.own.logged.clear();
  for (const int step : {7, 14, 21, 28}) p.whole(step);
  CHECK(p.plan() == Names{"step_7", "step_14", "step_21"});
  for (const int step : {9, 18, 27}) p.whole(step);  // by another one
  p.cut(19);
  CHECK(p.plan().empty());
  REQUIRE(p.all().notes.size() == 1);
  CHECK(contains(p.all().notes[0], "as if another trainer saved there, too"));
  p.scope.own.logged = {7, 14, 21, 28};  // its log names its own
  CHECK(p.plan() == Names{"step_7", "step_14", "step_21"});
  Place apart;  // as many steps lie between its saves, but far away from this run's
  apart.settings = p.settings;
  apart.scope.own.logged.clear();
  for (const int step : {4, 8, 12, 104, 108, 112}) apart.whole(step);
  CHECK(apart.plan().empty());
  Place cleared;  // old ones that nobody saw went before
  cleared.settings = p.settings;
  cleared.scope.own.logged.clear();
  for (const int step : {96, 99, 105}) cleared.whole(step);
  CHECK(cleared.plan() == Names{"step_96", "step_99"});
  Place begins;
  begins.settings = p.settings;
  begins.scope.own.logged.clear();
  for (const int step : {5, 7}) begins.whole(step);
  CHECK(begins.plan().empty());
  Place resumed;
  resumed.settings = p.settings;
  resumed.scope.own.logged.clear();
  resumed.scope.own.resumed = {44};
  for (const int step : {51, 58}) resumed.whole(step);
  CHECK(resumed.plan() == Names{"step_51"});
}

TEST_CASE("the holes that midwatch's own deletions leave speak for no other trainer") {
  Place p;
  p.settings.keep_last = 2;
  p.settings.keep_every = 40;
  p.settings.what = {"old-checkpoints"};
  p.scope.own.logged.clear();
  for (const int step : {40, 80, 95, 100, 105}) p.whole(step);
  CHECK(p.plan().empty());
  for (int step = 5; step <= 90; step += 5) {
    if (step % 40 != 0) p.scope.removals.insert(cat("/data/ck/step_", step));
  }
  CHECK(p.plan() == Names{"step_95"});
  p.scope.removals = {"/data/ck/step_85", "/data/ck/step_90"};  // of so many that the journal names the last alone
  CHECK(p.plan() == Names{"step_95"});
  p.whole(93);  // by another trainer
  CHECK(p.plan().empty());
  Place ahead;  // likewise, beyond what midwatch ever deleted
  ahead.settings = p.settings;
  ahead.scope.own.logged.clear();
  ahead.scope.removals = p.scope.removals;
  for (const int step : {40, 80, 95, 100, 105, 155}) ahead.whole(step);
  CHECK(ahead.plan().empty());
}

TEST_CASE("what lies beyond the step that the run reached stays, and none of its own goes for it") {
  Place p;
  p.settings.keep_last = 1;
  p.settings.what = {"old-checkpoints", "broken-checkpoints"};
  p.settings.explain = true;
  p.scope.own.logged.clear();
  p.scope.own.steps = {{1, 24}};
  p.scope.own.reached = 24;
  for (const int step : {4, 8, 12, 16, 20, 24, 28, 32, 36}) p.whole(step);
  CHECK(p.plan() == Names{"step_4", "step_8", "step_12", "step_16", "step_20"});
  const CleanupPlan plan = p.all();
  const auto why = [&plan](const std::string& name) -> std::string {
    for (const CleanupItem& one : plan.left) {
      if (one.name == name) return one.why;
    }
    return "";
  };
  CHECK(why("step_28") == "by its log this run has not reached its step");
  CHECK(why("step_24") == "it is the newest whole one here");
  p.scope.own.logged = {4, 8, 12, 16, 20, 24, 28};  // the log says that it saved it
  CHECK(p.plan() == Names{"step_4", "step_8", "step_12", "step_16", "step_20", "step_24"});
}

TEST_CASE("one step beyond the log is its own, as some count from 0, but not where it saved that last step, too") {
  Place p;
  p.settings.keep_last = 1;
  p.settings.what = {"old-checkpoints"};
  p.scope.own.logged.clear();
  p.scope.own.reached = 23;
  for (const int step : {8, 16, 24}) p.whole(step);
  CHECK(p.plan() == Names{"step_8", "step_16"});
  Place each;
  each.settings = p.settings;
  each.scope.own.logged.clear();
  each.scope.own.reached = 23;
  for (const int step : {22, 23, 24}) each.whole(step);
  CHECK(each.plan() == Names{"step_22"});  // and not step_23
}

TEST_CASE("a checkpoint whose trainer_state.json speaks of another plan or a later epoch is not counted") {
  Place p;
  p.settings.keep_last = 1;
  p.settings.what = {"old-checkpoints"};
  p.scope.own.logged.clear();
  p.scope.own.plans = {40};
  p.scope.own.counts_records = true;
  CHECK(p.plan().empty());
  p.scope.own.epoch = 0.45;
  const auto save = [&p](int step, int plan, double epoch) {
    p.whole(step);
    p.put(cat("/data/ck/step_", step, "/trainer_state.json"),
          cat("{\"epoch\": ", epoch, ",\n  \"global_step\": ", step,
              ",\n  \"log_history\": [{\"epoch\": 9}],\n  \"max_steps\": ", plan, "\n}"));
  };
  for (const int step : {4, 8, 12, 16}) save(step, 40, step / 40.0);
  CHECK(p.plan() == Names{"step_4", "step_8", "step_12"});
  save(20, 24, 0.4);  // as far by its epoch, and of a shorter plan
  CHECK(p.plan() == Names{"step_4", "step_8", "step_12"});
  save(24, 40, 0.6);  // further than any record
  CHECK(p.plan() == Names{"step_4", "step_8", "step_12"});
  p.scope.own.epoch = 0.62;
  save(20, 40, 0.5);
  CHECK(p.plan() == Names{"step_4", "step_8", "step_12", "step_16", "step_20"});
}

TEST_CASE("a checkpoint into which a person put a file stays, and the plan says so") {
  Place p;
  p.settings.keep_last = 1;
  p.settings.what = {"old-checkpoints"};
  for (const int step : {5, 10, 15, 20}) p.whole(step);
  p.disk.set_time(Time::from_seconds(1600));
  p.disk.put("/data/ck/step_5/NOTES.md", "this one answers politely");  // within minutes: the trainer's
  CHECK(p.plan() == Names{"step_5", "step_10", "step_15"});
  p.disk.set_time(Time::from_seconds(1800));
  p.disk.put("/data/ck/step_10/analysis/first.ipynb", "{}");
  CHECK(p.plan() == Names{"step_5", "step_15"});
  const CleanupPlan plan = p.all();
  REQUIRE(plan.left.size() == 1);
  CHECK(plan.left[0].name == "step_10");
  CHECK(plan.left[0].why == "a person put /data/ck/step_10/analysis/first.ipynb into it");
  p.disk.put("/data/ck/step_15/analysis/first.ipynb", "{}");  // whoever makes notes makes more than one
  CHECK(p.plan() == Names{"step_5"});
  for (const int step : {10, 15}) p.disk.unlink(cat("/data/ck/step_", step, "/analysis/first.ipynb"));
  p.disk.put("/data/ck/step_10/figures.csv", "1");
  CHECK(p.plan() == Names{"step_5", "step_15"});
  p.disk.put("/data/ck/step_15/figures.csv", "1");
  CHECK(p.plan() == Names{"step_5"});
  p.disk.put("/data/ck/step_20/figures.csv", "1");  // it lies in most: the trainer writes it
  CHECK(p.plan() == Names{"step_5", "step_10", "step_15"});
  p.disk.set_time(Time::from_seconds(-90'000));  // written long before, and moved in
  p.disk.put("/data/ck/step_10/thesis.txt", "half of it");
  CHECK(p.plan() == Names{"step_5", "step_15"});
}

TEST_CASE("what programs write into one checkpoint, however late, keeps none") {
  Place p;
  p.settings.keep_last = 1;
  p.settings.what = {"old-checkpoints"};
  for (const int step : {5, 10, 20}) p.whole(step);
  p.disk.set_time(Time::from_seconds(1900));
  for (const char* name : {"README.md", "best", ".cache/huggingface/x.txt", "eval/results.json", "state.lock",
                           "events.out.tfevents.17.host", "eval.log"})
    p.put(cat("/data/ck/step_5/", name), "x");
  p.put("/data/ck/step_5/IS_BEST", "");
  p.put("/data/ck/step_5/samples_5.txt", "x");
  p.put("/data/ck/step_20/samples_20.txt", "x");
  CHECK(p.plan() == Names{"step_5", "step_10"});
}

TEST_CASE(
    "of what was saved since the onset of a trouble none is counted, and the plan says which a resume begins from") {
  Place p;
  p.settings.keep_last = 2;
  p.settings.explain = true;
  p.settings.what = {"old-checkpoints"};
  for (int step = 10; step <= 100; step += 10) p.whole(step);
  CHECK(p.plan().size() == 8);
  p.scope.facts.onset = 55;
  p.scope.facts.trouble = "zero-reward began at step 55";
  p.scope.facts.advised = 50;
  CHECK(p.plan() == Names{"step_10", "step_20", "step_30", "step_60", "step_70", "step_80"});
  const CleanupPlan plan = p.all();
  const auto advised = std::find_if(plan.left.begin(), plan.left.end(), [](const auto& one) { return one.advised; });
  REQUIRE(advised != plan.left.end());
  CHECK(advised->name == "step_50");
  CHECK(advised->why == "a resume would begin from it, as zero-reward began at step 55");
  // What it goes for is checked once more right before: those that nothing speaks against are among them.
  const auto& counted = plan.items.front().grounds->counted;
  CHECK(std::any_of(counted.begin(), counted.end(), [](const auto& one) { return one.step == 50; }));
}

TEST_CASE("the newest that was read in full and found sane stays, and a person hears which were not") {
  Place p;
  p.settings.keep_last = 1;
  p.settings.explain = true;
  p.settings.what = {"old-checkpoints"};
  for (const int step : {10, 20, 30, 40}) p.whole(step);
  p.scope.facts.sane = {10, 20};
  p.scope.facts.unsound[40] = "reading all its bytes found that w is NaN";
  CHECK(p.plan() == Names{"step_10"});
  const auto notes = p.all().notes;
  REQUIRE(notes.size() == 1);
  CHECK(contains(notes[0], "read in full and found sane: step 20"));
  CHECK(contains(notes[0], "by their structure alone, with no look at their numbers: step 30"));
  CHECK(contains(notes[0], "midwatch checkpoint verify --deep /data/ck/step_30"));
  // What a person had read lies below the folder where runs are recorded.
  p.scope.run_folder = "/home/runs/one";
  CheckpointManifest read;
  read.path = "/data/ck/step_30";
  read.verdict = "whole";
  const auto info = p.disk.info("/data/ck/step_30/model.safetensors");
  REQUIRE(info.ok());
  ManifestFile file;
  file.path = "model.safetensors";
  file.bytes = info->size;
  file.changed = info->changed;
  file.xxh3 = 1;
  read.files = {file};
  REQUIRE(save_manifest(p.disk, "/home", read).ok());
  CHECK(p.plan() == Names{"step_10", "step_20"});
  p.disk.set_time(Time::from_seconds(1600));
  p.whole(30);
  CHECK(p.plan() == Names{"step_10"});
}

TEST_CASE("what another run may have written stays, and the plan names that run") {
  Place p;
  p.settings.keep_last = 1;
  p.settings.what = {"old-checkpoints"};
  for (const int step : {10, 20, 30}) p.whole(step);
  CHECK(p.plan() == Names{"step_10", "step_20"});
  p.scope.own.others = {{"night-2", {"/data/ck"}, {{Time::from_seconds(1400), Time()}}}};
  CHECK(p.plan().empty());
  REQUIRE(p.all().notes.size() == 1);
  CHECK(contains(p.all().notes[0], "Run night-2 saves in /data/ck, too"));
}

TEST_CASE("where no rule removes what the run's own log names, the plan says so") {
  Place p;
  p.settings.keep_last = 2;
  p.settings.what = {"old-checkpoints"};
  p.scope.own.said = p.scope.own.logged;
  for (const int step : {10, 20, 30, 40}) p.whole(step);
  CHECK(p.plan() == Names{"step_10", "step_20"});
  CHECK(p.all().notes.empty());
  p.scope.own.lives = {{Time::from_seconds(4000), Time()}};  // by the clock of the file server an hour earlier
  CHECK(p.plan().empty());
  REQUIRE(p.all().notes.size() == 1);
  CHECK(contains(p.all().notes[0],
                 "No rule removes some of the checkpoints in /data/ck: nothing proves that this run wrote them"));
  CHECK(contains(p.all().notes[0], "is their file server's clock off?"));
  p.settings.keep_last = 4;  // no rule would
  CHECK(p.all().notes.empty());
  p.settings.keep_last = 2;
  p.scope.own.logged.clear();  // somebody else's, for all that is known
  p.scope.own.said.clear();
  CHECK(p.all().notes.empty());
}

TEST_CASE("a declared folder to which a link leads by now is named") {
  Place p;
  p.settings.what = {"old-checkpoints"};
  std::string folder = "/tmp/midwatch-linked-XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  p.scope.roots = {folder + "/ck"};
  CHECK(p.all().notes.empty());
  REQUIRE(symlink(folder.c_str(), p.scope.roots[0].c_str()) == 0);  // moved to a larger disk, say
  const auto notes = p.all().notes;
  unlink(p.scope.roots[0].c_str());
  rmdir(folder.c_str());
  REQUIRE(notes.size() == 1);
  CHECK(contains(notes[0], cat("No rule removes any of the checkpoints in ", p.scope.roots[0])));
  CHECK(contains(notes[0], "leads through a link"));
}

TEST_CASE("what a trainer's roles save below the declared folder is its own, and a role that saves nothing is none") {
  for (const std::string declared : {"/data/ck", "/data/ck/_actor"}) {
    Remover p;
    p.scope.layout = {"global_step{step}", "latest", "global_step{step}", {}, "", false, true};
    p.scope.roots = {declared};
    p.scope.own.declared = {declared};
    if (declared != "/data/ck") {  // as the settings add it
      p.scope.roots.push_back("/data/ck/_critic");
      p.scope.own.declared.insert("/data/ck/_critic");
    }
    for (const int step : {5, 10, 15, 20})
      p.put(cat("/data/ck/_actor/global_step", step, "/w.safetensors"), safetensors());
    p.put("/data/ck/other/global_step5/w.safetensors", safetensors());  // another run's
    CHECK(p.plan() == Names{"global_step5", "global_step10"});
    for (const CleanupItem& item : p.all().items) {
      CHECK(item.root == "/data/ck/_actor");
      const auto removed = p.remove(item);
      CHECK_MESSAGE(removed.ok(), (removed.ok() ? "" : removed.error().what));
    }
    CHECK(p.plan().empty());
    CHECK(p.disk.exists("/data/ck/other/global_step5/w.safetensors"));
  }
}

}  // namespace
}  // namespace mw
