#include "app/checkpoint_survey.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/torch_save_for_test.h"

namespace mw {
namespace {

/// As SkyRL exports one: a whole model, and nothing of its trainer's.
void put_export(FakeDisk& disk, const std::string& folder) {
  for (const char* file : {"config.json", "model.safetensors"})
    disk.put(cat(folder, "/policy/", file), disk.content(cat("/ck/trl/checkpoint-20/", file)));
}

TEST_CASE("where a run's newest export is being written, the newest checkpoint that can be resumed from is named") {
  FakeDisk disk;
  testing::put_samples(disk);
  for (const int step : {10, 20}) put_export(disk, cat("/ck/exports/global_step_", step));
  disk.put("/ck/exports/global_step_30/policy/model.safetensors", "");
  const std::vector<std::string> paths = {"/ck/skyrl/global_step_10", "/ck/skyrl/global_step_20",
                                          "/ck/exports/global_step_10", "/ck/exports/global_step_20",
                                          "/ck/exports/global_step_30"};
  CheckpointsRequest request;
  request.home = "/home";
  CheckpointSurvey survey(disk, request, Time::from_seconds(4e9));
  CheckpointsAnswer answer;
  for (const std::string& path : paths) {
    auto one = survey.look(path);
    REQUIRE(one.ok());
    answer.checkpoints.push_back(*one);
  }
  REQUIRE(answer.checkpoints[1].resumable == "yes");
  REQUIRE(answer.checkpoints[3].state == "whole");
  REQUIRE(answer.checkpoints[4].state != "whole");
  survey.find_resume(answer);
  CHECK(answer.resume_from.path == "/ck/exports/global_step_20");  // whose the others are is not known
  answer.run = "a";
  survey.find_resume(answer);
  CHECK(answer.resume_from.path == "/ck/skyrl/global_step_20");
}

TEST_CASE("beside a cut file that is named after a metric the newest whole one is named") {
  FakeDisk disk;
  const auto saved = [](int32_t step) {
    testing::TorchSave save;
    const std::string model = testing::TorchSave::dict({{testing::TorchSave::text("w"), save.tensor({4, 4})}});
    return save.archive(
        testing::TorchSave::dict({{testing::TorchSave::text("global_step"), testing::TorchSave::whole(step)},
                                  {testing::TorchSave::text("state_dict"), model}}),
        "archive");
  };
  disk.put("/ck/model-val_reward=0.31.ckpt", saved(10));
  disk.put("/ck/model-val_reward=0.40.ckpt", saved(20));
  disk.put("/ck/model-val_reward=0.29.ckpt", saved(30).substr(0, 300));
  CheckpointsRequest request;
  request.home = "/home";
  CheckpointSurvey survey(disk, request, Time::from_seconds(4e9));
  CheckpointsAnswer answer;
  auto cut = survey.look("/ck/model-val_reward=0.29.ckpt");
  REQUIRE(cut.ok());
  REQUIRE(cut->state == "partial");
  answer.checkpoints.push_back(*cut);
  survey.find_resume(answer);
  CHECK(answer.resume_from.path == "/ck/model-val_reward=0.40.ckpt");
  CHECK(answer.resume_from.step == 20);
}

TEST_CASE("what a killed save of NeMo-RL had put out of its way comes back by its name") {
  FakeDisk disk;
  testing::put_samples(disk);
  REQUIRE(disk.rename("/ck/nemo-rl/step_20", "/ck/nemo-rl/old_step_20").ok());
  disk.put("/ck/nemo-rl/tmp_step_20/training_info.json", "{}");
  const auto notes = [&disk] {
    CheckpointsRequest request;
    request.home = "/home";
    CheckpointSurvey survey(disk, request, Time::from_seconds(4e9));
    CheckpointsAnswer answer;
    for (const char* name : {"step_10", "old_step_20", "tmp_step_20"}) {
      auto one = survey.look(cat("/ck/nemo-rl/", name));
      REQUIRE(one.ok());
      answer.checkpoints.push_back(*one);
    }
    survey.find_resume(answer);
    CHECK(answer.resume_from.path == "/ck/nemo-rl/step_10");
    std::string out;
    for (const std::string& note : answer.resume_from.notes) out += note;
    return out;
  };
  CHECK(contains(notes(), "mv /ck/nemo-rl/old_step_20 /ck/nemo-rl/step_20"));
  disk.put("/ck/nemo-rl/step_20/training_info.json", "{}");  // the name is taken
  CHECK_FALSE(contains(notes(), "mv /ck"));
}

}  // namespace
}  // namespace mw
