#include "sense/checkpoints/exchanged.h"

#include <doctest/doctest.h>

#include "base/prng.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/save_times.h"
#include "sense/checkpoints/torch_save_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

const Time kNow = Time::from_seconds(1768500000);
Time saved(int step) { return Time::from_seconds(1768465800 + 180 * step); }  // half an hour from save to save

/// Checkpoints of a sample, each with the time of its own save.
struct Run {
  FakeDisk disk;
  std::string root, form;  ///< "checkpoint-"

  Run(const std::string& at, std::string name) : root("/ck/" + at), form(std::move(name)) {
    testing::put_samples(disk);
    for (const int step : {10, 20}) date(step, saved(step));
  }
  std::string folder(int step) const { return cat(root, "/", form, step); }
  std::vector<std::string> files(int step) const {
    std::vector<std::string> out;
    for (const std::string& path : disk.paths())
      if (path.starts_with(folder(step) + "/")) out.push_back(path.substr(folder(step).size() + 1));
    return out;
  }
  void put(int step, const std::string& file, const std::string& content, Time at) {
    const std::string path = cat(folder(step), "/", file);
    if (disk.exists(path)) disk.unlink(path);
    disk.set_time(at);
    disk.put(path, content);
  }
  std::string content(int step, const std::string& file) const { return disk.content(cat(folder(step), "/", file)); }
  void date(int step, Time at) {
    for (const std::string& file : files(step)) put(step, file, content(step, file), at);
  }
  /// `travel`: as mv does it; else each has the time of the one in whose place it lies.
  void exchange(int a, int b, const std::string& file, bool travel) {
    const std::string first = content(a, file), second = content(b, file);
    put(a, file, second, saved(travel ? b : a));
    put(b, file, first, saved(travel ? a : b));
  }
  CheckpointVerdict look(int step, const std::vector<int>& beside, bool deep = false) {
    VerifyOptions options;
    options.deep = deep;
    options.now = kNow;
    for (const int other : beside) options.beside.push_back(folder(other));
    auto verdict = verify_checkpoint(disk, folder(step), options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
};

TEST_CASE("files that two checkpoints exchanged with their times are suspect in both") {
  struct Case {
    const char *at, *form, *file;
  };
  for (const Case& one :
       {Case{"trl", "checkpoint-", "model.safetensors"}, Case{"trl", "checkpoint-", "optimizer.pt"},
        Case{"trl", "checkpoint-", "rng_state.pth"}, Case{"trl", "checkpoint-", "scheduler.pt"},
        Case{"trl-sharded", "checkpoint-", "model-00002-of-00003.safetensors"},
        Case{"torch-bin", "step_", "pytorch_model-00001-of-00003.bin"},
        Case{"verl", "global_step_", "actor/model_world_size_2_rank_1.pt"}, Case{"verl", "global_step_", "data.pt"},
        Case{"prime-rl-stages/checkpoints", "step_", "trainer/__1_0.distcp"},
        Case{"nemo-rl", "step_", "policy/weights/__0_0.distcp"}}) {
    CAPTURE(std::string(one.at));
    CAPTURE(std::string(one.file));
    Run run(one.at, one.form);
    for (const int step : {10, 20}) CHECK(run.look(step, {30 - step}).problems.empty());
    run.exchange(10, 20, one.file, true);
    for (const int step : {10, 20}) {
      const CheckpointVerdict verdict = run.look(step, {30 - step});
      CHECK(verdict.state == State::kSuspect);
      REQUIRE(verdict.problems.size() == 1);
      CHECK(verdict.problems[0].path == one.file);
      CHECK(contains(verdict.problems[0].what, "exchanged"));
    }
  }
}

TEST_CASE("a step that a file holds shows that it was exchanged, whatever its time") {
  struct Case {
    const char *at, *form, *file, *what;
  };
  for (const Case& one :
       {Case{"trl", "checkpoint-", "optimizer.pt", "its optimizer's step is 10, and 20 in checkpoint-10"},
        Case{"trl", "checkpoint-", "scheduler.pt", "its last_epoch is 10, and 20 in checkpoint-10"},
        Case{"openrlhf/_actor", "global_step", "mp_rank_00_model_states.pt", " is 10, and 20 in global_step10"},
        Case{"nemo-rl", "step_", "training_info.json", "its step is 10, and 20 in step_10"},
        Case{"skyrl-megatron", "global_step_", "policy/common.pt", " is 10, and 20 in global_step_10"}}) {
    CAPTURE(std::string(one.at));
    CAPTURE(std::string(one.file));
    Run run(one.at, one.form);
    run.exchange(10, 20, one.file, false);
    const CheckpointVerdict verdict = run.look(20, {10});
    CHECK(verdict.state == State::kSuspect);
    REQUIRE(verdict.problems.size() == 1);
    CHECK(verdict.problems[0].path == one.file);
    CHECK(contains(verdict.problems[0].what, one.what));
    CHECK(run.look(10, {20}).state == State::kSuspect);
  }
}

TEST_CASE("counts that change places are exchanged, and those of an optimizer that was begun anew are not") {
  const auto other = [](const std::vector<CountAt>& counts, bool of_optimizer = true) {
    return exchanged_with(counts, of_optimizer).value_or(0);
  };
  CHECK(other({{20, 10, ""}, {10, 20, ""}}) == 1);
  CHECK(other({{10, 20, ""}, {20, 10, ""}}) == 1);
  CHECK(other({{20, 40, ""}, {10, 80, ""}}) == 1);  // four for each step
  CHECK(other({{40, 30, ""}, {50, 50, ""}, {30, 40, ""}, {20, 20, ""}}) == 2);
  CHECK(other({{40, 20, ""}, {50, 30, ""}, {30, 30, ""}, {20, 0, ""}}, false) == 0);
  CHECK(other({{30, 20, ""}, {40, 10, ""}, {20, 0, ""}}) == 1);  // of a resume with a new one at step 20
  CHECK(other({{20, 20, ""}, {10, 10, ""}}) == 0);
  CHECK(other({{20, 10, ""}, {10, 10, ""}}) == 0);  // begun anew where it was saved
  CHECK(other({{40, 5, ""}, {30, 30, ""}}) == 0);   // begun anew at step 35
  CHECK(other({{30, 30, ""}, {40, 5, ""}}) == 0);
  CHECK(other({{20, 5, ""}, {30, 15, ""}, {10, 10, ""}}) == 0);  // in the middle
  CHECK(other({{20, 5, ""}, {10, 10, ""}}) == 0);
  CHECK(other({{40, 5, ""}, {50, 15, ""}, {30, 30, ""}, {20, 20, ""}}) == 0);
  CHECK(other({{30, 30, ""}, {40, 5, ""}, {20, 20, ""}, {50, 15, ""}, {10, 10, ""}}) == 0);
  CHECK(other({{30, 10, ""}, {20, 20, ""}, {10, 10, ""}}) == 0);  // with another one since step 20
  CHECK(other({{20, 5, ""}, {10, 10, ""}}, false) == 1);          // a trainer's own count of every second step
  CHECK(other({{0, 3, ""}, {1, 0, ""}}) == 0);
  CHECK(other({{7, 7, ""}}) == 0);
}

TEST_CASE("of four checkpoints only the two that exchanged a file are suspect") {
  for (const bool travel : {true, false}) {
    for (const char* file : {"model.safetensors", "optimizer.pt", "scheduler.pt"}) {
      CAPTURE(std::string(file));
      Run run("trl", "checkpoint-");
      for (const int step : {5, 30}) {  // in the middle of no line: copies of others, in which nothing counts
        for (const std::string& name : run.files(20)) {
          std::string content = run.content(20, name);
          if (name == "trainer_state.json") content.replace(content.find("20"), 2, cat(step));
          if (name.ends_with(".safetensors")) content[content.size() - 3] ^= static_cast<char>(step);
          if (name != "optimizer.pt" && name != "scheduler.pt") run.put(step, name, content, saved(step));
        }
        run.put(step, "optimizer.pt", run.content(10, "rng_state.pth"), saved(step));
      }
      CHECK(run.look(30, {20, 10, 5}).state != State::kSuspect);
      run.exchange(10, 20, file, travel);
      const bool found = travel || std::string_view(file) != "model.safetensors";
      for (const int step : {10, 20}) CHECK((run.look(step, {30 - step, 30, 5}).state == State::kSuspect) == found);
      for (const int step : {5, 30}) CHECK(run.look(step, {20, 10}).state != State::kSuspect);
    }
  }
}

TEST_CASE("healthy checkpoints whose times fall apart exchanged nothing") {
  const std::vector<std::string> large = {"model.safetensors", "optimizer.pt"};
  const auto is_clean = [](Run& run) {
    for (const int step : {10, 20}) {
      const CheckpointVerdict verdict = run.look(step, {30 - step});
      CHECK(verdict.state == State::kWhole);
      for (const CheckpointProblem& one : verdict.problems) CHECK_FALSE(one.breaks);
    }
  };
  for (const std::string& file : large) {
    CAPTURE(file);
    Run copied("trl", "checkpoint-");  // without times, one after the other: the large file comes last
    copied.date(10, saved(10));
    copied.put(10, file, copied.content(10, file), saved(10) + Duration::seconds(300));
    copied.date(20, saved(10) + Duration::seconds(320));
    copied.put(20, file, copied.content(20, file), saved(10) + Duration::seconds(600));
    is_clean(copied);
    Run late("trl", "checkpoint-");  // uploaded while the next one was saved
    late.put(10, file, late.content(10, file), saved(20));
    is_clean(late);
    Run early("trl", "checkpoint-");  // begun with the weights, half an hour before the rest: the save before was then
    early.put(20, file, early.content(20, file), saved(10));
    is_clean(early);
    Run turned("trl", "checkpoint-");  // received in any order: the times are not those of the steps
    turned.date(10, saved(20));
    turned.date(20, saved(10));
    turned.put(10, file, turned.content(10, file), saved(10));
    turned.put(20, file, turned.content(20, file), saved(20));
    is_clean(turned);
  }
  Run same("trl", "checkpoint-");  // what is the same in both may lie in either
  same.put(10, "tokenizer.json", "{}", saved(20));
  same.put(20, "tokenizer.json", "{}", saved(10));
  is_clean(same);
  Run alike("trl", "checkpoint-");  // cp -r: one time for all
  for (const int step : {10, 20}) alike.date(step, saved(50));
  is_clean(alike);
}

TEST_CASE("no times that files got on their way here look like an exchange") {
  FakeDisk disk;
  testing::put_samples(disk);
  Prng random(11);
  for (const testing::Sample& sample : testing::samples()) {
    if (*sample.before == '\0') continue;
    const std::string folders[] = {cat("/ck/", sample.before), cat("/ck/", sample.path)};
    for (const uint64_t within : {30, 120, 600, 3600}) {
      for (int round = 0; round < 20; ++round) {
        const bool ordered = round % 2 == 0;  // one checkpoint after the other, or all of them in any order
        double at = 0;
        for (const std::string& folder : folders) {
          for (const std::string& path : disk.paths()) {
            if (!path.starts_with(folder + "/")) continue;
            const std::string content = disk.content(path);
            disk.unlink(path);
            disk.set_time(saved(10) + Duration::seconds(at + static_cast<double>(random.below(within))));
            disk.put(path, content);
          }
          if (ordered) at += static_cast<double>(within);
        }
        const auto tree = CheckpointTree::read(disk, folders[1]);
        REQUIRE(tree.ok());
        CAPTURE(std::string(sample.path));
        CAPTURE(within);
        CHECK(exchanged_by_time(disk, *tree, {folders[0]}).empty());
      }
    }
  }
}

TEST_CASE("all ranks' files that were exchanged agree with each other, and not with those beside them") {
  Run run("prime-rl-stages/checkpoints", "step_");
  for (const char* file : {"trainer/__0_0.distcp", "trainer/__1_0.distcp"}) run.exchange(10, 20, file, false);
  CHECK(run.look(20, {10}).state == State::kCorrupt);  // by the trainer's progress in one of them
  const CheckpointVerdict verdict = run.look(20, {10}, true);
  REQUIRE(verdict.problems.size() == 2);
  CHECK(contains(verdict.problems[0].what, "it is of step 10"));
  CHECK(contains(verdict.problems[1].what, "its optimizer's step is 10, and 20 in step_10"));
  Run ranks("verl", "global_step_");
  for (const char* file : {"actor/optim_world_size_2_rank_0.pt", "actor/optim_world_size_2_rank_1.pt"})
    ranks.exchange(10, 20, file, false);
  CHECK(ranks.look(20, {10}).state == State::kSuspect);
}

TEST_CASE("a step within an epoch begins anew with each") {
  Run run("nemo-rl", "step_");
  run.put(10, "training_info.json", R"({"epoch":0,"step":10,"total_steps":10})", saved(10));
  run.put(20, "training_info.json", R"({"epoch":1,"step":5,"total_steps":20})", saved(20));
  CHECK(run.look(20, {10}).state == State::kWhole);
  run.put(20, "training_info.json", R"({"current_epoch":1,"step":5})", saved(20));
  CHECK(run.look(20, {10}).state == State::kWhole);
  run.put(10, "training_info.json", R"({"epoch":1,"step":5,"total_steps":20})", saved(10));
  run.put(20, "training_info.json", R"({"epoch":0,"step":10,"total_steps":10})", saved(20));
  CHECK(run.look(20, {10}).state == State::kSuspect);
}

TEST_CASE("an optimizer that counts far more steps than the two saves before it is worth knowing") {
  using testing::TorchSave;
  FakeDisk disk;
  testing::put_samples(disk);
  const auto save = [&disk](int step, int32_t count) {
    TorchSave torch;
    const std::string object = torch.optimizer(3, {8, 8}, count), folder = cat("/run/checkpoint-", step);
    disk.put(folder + "/optimizer.pt", torch.archive(object, "optimizer"));
    disk.put(folder + "/model.safetensors", disk.content("/ck/trl/checkpoint-20/model.safetensors"));
  };
  const auto said = [&](int32_t third) {
    save(30, third);
    VerifyOptions options;
    options.now = kNow;
    options.beside = {"/run/checkpoint-20", "/run/checkpoint-10"};
    const auto verdict = verify_checkpoint(disk, "/run/checkpoint-30", options);
    REQUIRE(verdict.ok());
    for (const CheckpointProblem& one : verdict->problems) {
      CHECK_FALSE((one.breaks && one.path == "optimizer.pt"));
      if (one.path == "optimizer.pt" && contains(one.what, "optimizer's step")) return one.what;
    }
    return std::string();
  };
  save(10, 10);
  save(20, 20);
  CHECK(contains(said(700), "its optimizer's step is 700, and 20 in checkpoint-20 and 10 in checkpoint-10"));
  CHECK(said(30).empty());
  CHECK(said(60).empty());  // four times as many updates for each step: the settings were changed
  CHECK(said(5).empty());   // begun anew
}

}  // namespace
}  // namespace mw
