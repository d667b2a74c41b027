// What files of a checkpoint say of their own step, and when they were written.
#include <doctest/doctest.h>

#include <algorithm>

#include "sense/checkpoints/find.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verdict_text_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

struct World {
  FakeDisk disk;
  World() { testing::put_samples(disk); }
  void copy(const std::string& from, const std::string& to) { disk.put(to, disk.content(from)); }
  void copy_folder(const std::string& from, const std::string& to) {
    for (const std::string& path : disk.paths()) {
      if (path.starts_with(from + "/")) copy(path, to + path.substr(from.size()));
    }
  }
  CheckpointVerdict look(const std::string& path, const std::vector<std::string>& beside = {}) {
    VerifyOptions options;
    options.now = Time::from_seconds(1768500000);
    options.beside = beside;
    auto verdict = verify_checkpoint(disk, path, options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
};

TEST_CASE("a file that says another step than its folder is of another checkpoint") {
  struct Case {
    const char *root, *before, *now, *file;
  };
  for (const Case& one :
       {Case{"/ck/verl-megatron", "global_step_10", "global_step_20", "actor/optimizer/dist_ckpt/common.pt"},
        Case{"/ck/verl-megatron", "global_step_10", "global_step_20", "actor/ckpt_contents.json"},
        Case{"/ck/prime-rl/checkpoints", "step_10", "step_20", "orchestrator/progress.pt"},
        Case{"/ck/nemo-rl", "step_10", "step_20", "training_info.json"}}) {
    World world;
    const std::string now = cat(one.root, "/", one.now);
    CHECK(world.look(now).state == State::kWhole);
    world.copy(cat(one.root, "/", one.before, "/", one.file), cat(now, "/", one.file));
    const CheckpointVerdict verdict = world.look(now);
    INFO(text_of(verdict));
    CHECK(verdict.state == State::kCorrupt);
    REQUIRE_FALSE(verdict.problems.empty());
    CHECK(verdict.problems.front().trouble == Trouble::kMixed);
    CHECK(verdict.problems.front().path == one.file);
  }
}

TEST_CASE("verl's manifest states as many ranks as saved, or more") {
  World world;
  const std::string path = "/ck/verl-megatron/global_step_20";
  const auto look = [&](int64_t ranks) {
    world.disk.put(path + "/actor/ckpt_contents.json", cat("{\"global_step\": 20, \"world_size\": ", ranks, "}"));
    return world.look(path);
  };
  CHECK(look(1).state == State::kWhole);
  CHECK(look(8).state == State::kWhole);  // not every rank has a part of each tensor
  const CheckpointVerdict verdict = look(0);
  CHECK(verdict.state == State::kCorrupt);
  CHECK(verdict.problems.front().path == "actor/ckpt_contents.json");
}

TEST_CASE("a trainer's state that transformers cannot take makes a checkpoint corrupt") {
  World world;
  const std::string path = "/ck/trl/checkpoint-20/trainer_state.json";
  const std::string good = world.disk.content(path);
  const auto look = [&](const std::string& text) {
    world.disk.put(path, text);
    return world.look("/ck/trl/checkpoint-20");
  };
  for (const char* const text : {"null", "[]", "[{\"global_step\": 20}]", "20", R"({"global_step": "20"})",
                                 R"({"global_step": -1})", R"({"global_step": NaN})", R"({"global_step": null})"}) {
    const CheckpointVerdict verdict = look(text);
    INFO(text, ": ", text_of(verdict));
    CHECK(verdict.state == State::kCorrupt);
    CHECK(verdict.resumable == CheckpointVerdict::Resumable::kNo);
    REQUIRE_FALSE(verdict.problems.empty());
    CHECK(verdict.problems.front().path == "trainer_state.json");
  }
  for (const std::string& text : {good, std::string(R"({"global_step": 20})"), std::string(R"({"epoch": 1.5})")}) {
    const CheckpointVerdict verdict = look(text);
    INFO(text_of(verdict));
    CHECK(verdict.state == State::kWhole);
  }
  // An export for others to use: nobody resumes from it.
  for (const char* const name : {"optimizer.pt", "scheduler.pt", "rng_state.pth", "training_args.bin"})
    world.disk.unlink(cat("/ck/trl/checkpoint-20/", name));
  CHECK(look("[]").state != State::kCorrupt);
}

TEST_CASE("what NeMo-RL counts within an epoch is not taken for the step") {
  World world;
  const auto state = [&world](const std::string& info) {
    world.disk.put("/ck/nemo-rl/step_20/training_info.json", info);
    return world.look("/ck/nemo-rl/step_20").state;
  };
  CHECK(state(R"({"step":4,"epoch":1,"total_steps":20,"consumed_samples":640})") == State::kWhole);
  CHECK(state(R"({"current_step":20,"total_steps":0})") == State::kWhole);
  CHECK(state(R"({"step":19})") == State::kWhole);
  CHECK(state(R"({"consumed_samples":640})") == State::kWhole);
  CHECK(state(R"({"step":10})") == State::kCorrupt);
  world.disk.put("/ck/nemo-rl/step_10/training_info.json", R"({"step":3})");  // it counts something else
  CHECK(state(R"({"step":6})") == State::kWhole);
}

TEST_CASE("a loader's state from the time of the save before is worth knowing, and no more") {
  World world;
  const auto date = [&world](const std::string& folder, double seconds) {
    world.disk.set_time(Time::from_seconds(seconds));
    for (const std::string& path : world.disk.paths()) {
      if (path.starts_with(folder)) world.copy(path, path);
    }
  };
  date("/ck/verl/global_step_10/", 1768460000);
  date("/ck/verl/global_step_20/", 1768461000);
  CHECK(world.look("/ck/verl/global_step_20", {"/ck/verl/global_step_10"}).problems.empty());
  date("/ck/verl/global_step_20/data.pt", 1768460000);
  const CheckpointVerdict verdict = world.look("/ck/verl/global_step_20", {"/ck/verl/global_step_10"});
  INFO(text_of(verdict));
  CHECK(verdict.state == State::kWhole);
  REQUIRE(verdict.problems.size() == 1);
  CHECK(verdict.problems[0].path == "data.pt");
  CHECK(contains(verdict.problems[0].what, "with the files of global_step_10 and before all weights here"));
  date("/ck/slime/iter_0000010/", 1768460000);
  date("/ck/slime/iter_0000020/", 1768461000);
  date("/ck/slime/rollout/", 1768461000);
  CHECK(world.look("/ck/slime/iter_0000020", {"/ck/slime/iter_0000010"}).problems.empty());
  date("/ck/slime/rollout/", 1768460000);
  CHECK(contains(text_of(world.look("/ck/slime/iter_0000020", {"/ck/slime/iter_0000010"})), "../rollout/global"));
}

TEST_CASE("a checkpoint of several parts in a folder of another name is one") {
  World world;
  for (const char* const layout : {"verl", "verl-megatron"}) {
    CAPTURE(layout);
    const std::string copy = cat("/pulled/", layout);
    world.copy_folder(cat("/ck/", layout, "/global_step_20"), copy);
    for (const bool data : {true, false}) {
      if (!data) world.disk.unlink(copy + "/data.pt");
      const auto found = find_checkpoints(world.disk, copy);
      REQUIRE(found.ok());
      REQUIRE(found->size() == 1);
      CHECK(found->front().path == copy);
      const CheckpointVerdict verdict = world.look(copy);
      INFO(text_of(verdict));
      CHECK(verdict.framework == "verl");
      CHECK(verdict.state == (data ? State::kWhole : State::kPartial));
      CHECK(contains(text_of(verdict), "verl resumes from folders that are called global_step_N only"));
    }
  }
  CHECK(find_checkpoints(world.disk, "/ck/verl")->size() == 2);
}

TEST_CASE("how deep was looked is said, where nothing was found") {
  World world;
  world.copy_folder("/ck/trl", "/far/a/b/c/d/e");
  CHECK(contains(text_of(world.look("/far")), "down to the fourth below it"));
  REQUIRE(world.disk.make_folders("/empty/a").ok());
  CHECK(contains(text_of(world.look("/empty")), "no file is in it, nor in a folder below it"));
}

}  // namespace
}  // namespace mw
