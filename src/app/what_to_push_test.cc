#include "app/what_to_push.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/deep_read.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

/// The samples, and what a person may say of them. "step 20: /ck/…", or what is refused, and what to do.
struct Samples {
  FakeDisk disk;
  std::unique_ptr<KnowledgeBase> knowledge;
  Samples() {
    testing::put_samples(disk);
    auto loaded = KnowledgeBase::load({}, {});
    REQUIRE(loaded.ok());
    knowledge = std::move(*loaded);
  }
  std::string push(const std::string& path, int64_t step = kNoStep, bool suspect = false) {
    PushRequest request;
    request.suspect = suspect;
    request.path = path;
    request.step = step;
    const auto target = what_to_push(disk, *knowledge, request);
    if (!target.ok()) return cat(target.error().what, ". ", target.error().hint);
    std::string out = cat("step ", target->named.step, ": ", target->path);
    for (const std::string& note : target->notes) out += cat("; ", note);
    return out;
  }
  void remove(std::string_view folder, std::string_view part) {
    for (const std::string& path : disk.paths()) {
      if (path.starts_with(folder) && contains(path, part)) disk.unlink(path);
    }
  }
  void copy(const std::string& from, const std::string& to) {
    for (const std::string& path : disk.paths()) {
      if (path.starts_with(from + "/")) disk.put(to + path.substr(from.size()), disk.content(path));
    }
  }
};

TEST_CASE("every sample is pushed by its own name and by the folder that holds it") {
  Samples on;
  for (const testing::Sample& one : testing::samples()) {
    const std::string path = cat("/ck/", one.path);
    CAPTURE(path);
    if (std::string(one.layout) == "AReaL, recover slot") continue;  // a trial's folder, by what is in it
    CHECK(on.push(path) == cat("step 20: ", path));
    CHECK(on.push(folder_of(path)) == cat("step 20: ", path));
  }
}

TEST_CASE("that the newest could not be read is said of the one before it that is pushed") {
  Samples on;
  FakeDisk::Faults faults;
  faults.look = 1;
  faults.look_under = "/ck/verl/global_step_20/actor/optim_world_size_2_rank_1.pt";
  on.disk.set_faults(faults);
  const std::string pushed = on.push("/ck/verl");
  INFO(pushed);
  CHECK(pushed.starts_with("step 10: /ck/verl/global_step_10; step 20 was passed over: "));
  CHECK(contains(pushed, "Input/output error"));
}

TEST_CASE("a part of a checkpoint is not pushed, and the folder to push is named") {
  Samples on;
  for (const char* part :
       {"/ck/nemo-rl/step_20/policy", "/ck/nemo-rl/step_20/policy/weights", "/ck/verl/global_step_20/actor",
        "/ck/skyrl/global_step_20/policy", "/ck/prime-rl/checkpoints/step_20/trainer"}) {
    CAPTURE(part);
    const std::string all = std::string(part).substr(0, std::string(part).find("step_20") + 7);
    CHECK(on.push(part, 20) == cat(part, " is a part of the checkpoint ", all,
                                   ", and none to resume from by itself. Push the whole: ", all, "."));
  }
  on.copy("/ck/trl/checkpoint-10", "/ck/stages/step_1/checkpoint-10");
  on.copy("/ck/trl/checkpoint-20", "/ck/stages/step_1/checkpoint-20");
  CHECK(on.push("/ck/stages/step_1/checkpoint-20") == "step 20: /ck/stages/step_1/checkpoint-20");
}

TEST_CASE("what holds no weights is not pushed") {
  Samples on;
  for (const char* name : {"optimizer.pt", "scheduler.pt"})
    on.disk.put(cat("/ck/opt/", name), on.disk.content(cat("/ck/trl/checkpoint-20/", name)));
  CHECK(contains(on.push("/ck/opt", 20), "/ck/opt is no checkpoint: no weights are in it"));
  on.disk.put("/ck/notes/a.md", "hi");
  CHECK(contains(on.push("/ck/notes", 20), "is no checkpoint"));
  on.disk.put("/ck/run/latest_ckpt_global_step.txt", "20");
  CHECK(contains(on.push("/ck/run/latest_ckpt_global_step.txt", 20), "is no checkpoint"));
}

TEST_CASE("of Lightning's folders the newest is pushed, or that of the step, and each by itself") {
  Samples on;
  for (const int step : {10, 20, 30}) {
    const std::string folder = cat("/ck/ld/epoch=0-step=", step, ".ckpt");
    on.copy("/ck/deepspeed-zero1/global_step20", folder + "/checkpoint");
    on.disk.put(folder + "/latest", "checkpoint");
  }
  CHECK(on.push("/ck/ld") == "step 30: /ck/ld/epoch=0-step=30.ckpt");
  CHECK(on.push("/ck/ld", 10) == "step 10: /ck/ld/epoch=0-step=10.ckpt");
  CHECK(on.push("/ck/ld/epoch=0-step=20.ckpt") == "step 20: /ck/ld/epoch=0-step=20.ckpt");
  for (const std::string& path : on.disk.paths()) {
    if (contains(path, "step=30") && contains(path, "zero_pp_rank_1")) on.disk.unlink(path);
  }
  CHECK(on.push("/ck/ld") == "step 20: /ck/ld/epoch=0-step=20.ckpt");
}

TEST_CASE("of several the newest from which a resume has all is pushed, and one that lacks something is not") {
  struct Case {
    const char *folder, *part, *lacks;
  };
  for (const Case& one : {Case{"/ck/verl/global_step_", "optim_world", "optimizer"},
                          {"/ck/skyrl/global_step_", "optim_world", "optimizer"},
                          {"/ck/trl/checkpoint-", "optimizer.pt", "optimizer"},
                          {"/ck/nemo-rl/step_", "policy/optimizer", "optimizer"}}) {
    Samples on;
    CAPTURE(one.folder);
    const std::string older = cat(one.folder, "10"), newer = cat(one.folder, "20");
    on.remove(newer, one.part);
    CHECK(on.push(folder_of(newer)) ==
          cat("step 10: ", older, "; step 20 was passed over: nothing can resume from it, as it lacks ", one.lacks));
    CHECK(on.push(newer) == cat("nothing can resume from ", newer, ": it lacks ", one.lacks, ", and ", basename(older),
                                " has all. Push ", older, ", or say --allow-suspect."));
    CHECK(on.push(folder_of(newer), 20) == on.push(newer));
    const std::string anyway = cat("step 20: ", newer, "; its trainer cannot resume from it: it lacks ", one.lacks);
    CHECK(on.push(newer, kNoStep, true) == anyway);
    CHECK(on.push(folder_of(newer), 20, true) == anyway);
    on.remove(older, one.part);  // the run saves none
    CHECK(on.push(folder_of(newer)) == anyway);
    CHECK(on.push(newer) == anyway);
  }
}

TEST_CASE("a suspect checkpoint is not pushed unless somebody says so") {
  Samples on;
  const std::string rank = "/ck/verl/global_step_20/actor/model_world_size_2_rank_";
  on.disk.put(cat(rank, "0.pt"), on.disk.content(cat(rank, "1.pt")));
  CHECK(
      contains(on.push("/ck/verl/global_step_20"), "the checkpoint is suspect: actor/model_world_size_2_rank_0.pt: "));
  CHECK(on.push("/ck/verl/global_step_20", kNoStep, true) == "step 20: /ck/verl/global_step_20");
  CHECK(on.push("/ck/verl").starts_with("step 10: /ck/verl/global_step_10; step 20 was passed over: actor/model_"));
}

TEST_CASE("a checkpoint is verified once before it is pushed") {
  for (const char* path : {"/ck/trl", "/ck/trl/checkpoint-20", "/ck/areal", "/ck/prime-rl/checkpoints"}) {
    Samples on;
    CAPTURE(path);
    const std::string target = std::string(path) == "/ck/areal"                  ? path
                               : std::string(path) == "/ck/trl"                  ? "/ck/trl/checkpoint-20"
                               : std::string(path) == "/ck/prime-rl/checkpoints" ? "/ck/prime-rl/checkpoints/step_20"
                                                                                 : path;
    VerifyOptions how;
    how.beside = nearest_beside(on.disk, target, 2);
    uint64_t before = on.disk.calls();
    REQUIRE(verify_checkpoint(on.disk, target, how).ok());
    const uint64_t once = on.disk.calls() - before;
    before = on.disk.calls();
    CHECK(contains(on.push(path), "step 20: "));
    CHECK(on.disk.calls() - before < once * 3 / 2);
  }
}

}  // namespace
}  // namespace mw
