// What a watch and a restart make of real checkpoints, whole and with a file missing: never more than verify does.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "platform/paths.h"
#include "sense/checkpoints/last_whole.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using How = event::CheckpointSeen::How;

TEST_CASE("a scan calls nothing whole that verify does not, and what lacks a part that the one before has is none") {
  for (const testing::Sample& sample : testing::samples()) {
    if (std::string_view(sample.before).empty()) continue;
    CAPTURE(std::string(sample.layout));
    FakeDisk disk;
    testing::put_samples(disk);
    const std::string folder = cat("/ck/", sample.path);
    const CheckpointScan before = scan_checkpoint(disk, cat("/ck/", sample.before), 10, nullptr);
    CHECK(before.seen.how != How::kBroken);
    CHECK(before.verified);
    CHECK(before.resumable == sample.resumable);
    const CheckpointScan whole = scan_checkpoint(disk, folder, 20, &before);
    CHECK(whole.verified);
    CHECK_FALSE(whole.doubtful);
    CHECK(whole.seen.how == before.seen.how);
    CHECK(whole.seen.lacks.empty());
    for (const std::string& path : disk.paths()) {
      if (!path.starts_with(folder + "/")) continue;
      CAPTURE(path);
      const std::string content = disk.content(path);
      REQUIRE(disk.remove(path).ok());
      const CheckpointScan scan = scan_checkpoint(disk, folder, 20, &before);
      const auto verdict = verify_checkpoint(disk, folder, {});
      disk.put(path, content);
      if (!verdict.ok()) continue;  // its only file
      const bool broken =
          verdict->state == CheckpointVerdict::State::kPartial || verdict->state == CheckpointVerdict::State::kCorrupt;
      CHECK((scan.seen.how == How::kBroken) == broken);
      const bool lacks = sample.resumable && verdict->resumable == CheckpointVerdict::Resumable::kNo;
      if (!broken) CHECK(scan.seen.lacks.empty() == !lacks);
      if (lacks) CHECK(scan.seen.how != How::kWhole);
    }
  }
}

struct Trl {
  FakeDisk disk;
  const CheckpointLayout layout{"checkpoint-{step}", "", ""};
  const std::string folder = "/ck/trl/checkpoint-20";
  Trl() { testing::put_samples(disk); }
  LastWhole last() { return find_last_whole(disk, {"/ck/trl"}, layout, kNoStep); }
};

TEST_CASE("what the run's earlier saves showed counts after they were removed") {
  struct Case {
    const char *root, *pattern, *cut;
  };
  for (const Case& one : {Case{"/ck/slime", "iter_{step:07}", "__0_0.distcp"},
                          Case{"/ck/prime-rl/checkpoints", "step_{step}", "trainer/__0_0.distcp"},
                          Case{"/ck/nemo-rl", "step_{step}", "policy/weights/__0_0.distcp"},
                          Case{"/ck/verl", "global_step_{step}", "actor/model_world_size_2_rank_1.pt"}}) {
    FakeDisk disk;
    testing::put_samples(disk);
    const CheckpointLayout layout{one.pattern, "", ""};
    EarlierFindings earlier;
    const auto last = [&] { return find_last_whole(disk, {one.root}, layout, kNoStep, {}, earlier); };
    disk.unlink_folder(cat(one.root, "/", with_step(layout.folder, 10)));
    const std::string path = cat(one.root, "/", with_step(layout.folder, 20), "/", one.cut);
    INFO(path);
    earlier.whole_in = {one.root};
    CHECK(last().kept == 20);
    REQUIRE(disk.exists(path));
    disk.put(path, disk.content(path).substr(0, disk.content(path).size() / 2));
    CHECK(last().kept == kNoStep);
    CHECK(last().from == 20);
    CHECK(contains(last().why, one.cut));
  }
}

TEST_CASE("a file that ends before its .metadata says is broken, whatever else the run saved") {
  for (const bool all : {false, true}) {
    for (const std::string root : {"/ck/slime/iter_00000", "/ck/prime-rl/checkpoints/step_", "/ck/nemo-rl/step_"}) {
      FakeDisk disk;
      testing::put_samples(disk);
      const std::string folder = cat(root, 20), data = root.ends_with("iter_00000")    ? "/__0_0.distcp"
                                                       : root.starts_with("/ck/prime") ? "/trainer/__0_0.distcp"
                                                                                       : "/policy/weights/__0_0.distcp";
      INFO(folder);
      for (const int step : {10, 20}) {
        const std::string path = cat(root, step, data);
        REQUIRE(disk.exists(path));
        if (step == 20 || all) disk.put(path, disk.content(path).substr(0, disk.content(path).size() / 2));
      }
      const CheckpointScan scan = scan_checkpoint(disk, folder, 20, nullptr);
      CHECK(scan.seen.how == How::kBroken);
      CHECK(contains(scan.seen.what, "it is cut"));
      CHECK((scan_checkpoint(disk, cat(root, 10), 10, nullptr).seen.how == How::kBroken) == all);
    }
  }
}

namespace {

struct Pointed {
  FakeDisk disk;
  const std::string root, pointer;
  const CheckpointLayout layout;
  Pointed(std::string at, const char* folder, const char* file, const char* text)
      : root(std::move(at)), pointer(cat(root, "/", file)), layout{folder, file, text} {
    testing::put_samples(disk);
    point(with_step(layout.pointer_text, 10));
  }
  void point(const std::string& text) { disk.put(pointer, text); }
  /// A file of weights in that folder is left half.
  void cut(const std::string& folder, const char* file) {
    const std::string path = cat(root, "/", folder, "/", file);
    REQUIRE(disk.exists(path));
    disk.put(path, disk.content(path).substr(0, disk.content(path).size() / 2));
  }
  LastWhole find(const EarlierFindings& earlier = {}) {
    return find_last_whole(disk, {root}, layout, kNoStep, {}, earlier);
  }
};

}  // namespace

TEST_CASE("where the pointer names a broken checkpoint and a newer one is whole, that is gone on from") {
  struct Case {
    const char *root, *folder, *pointer, *text, *file;
  };
  for (const Case& one :
       {Case{"/ck/verl", "global_step_{step}", "latest_checkpointed_iteration.txt", "{step}",
             "actor/model_world_size_2_rank_1.pt"},
        {"/ck/skyrl", "global_step_{step}", "latest_ckpt_global_step.txt", "{step}",
         "policy/model_world_size_2_rank_1.pt"},
        {"/ck/slime", "iter_{step:07}", "latest_checkpointed_iteration.txt", "{step}", "__0_0.distcp"},
        {"/ck/openrlhf/_actor", "global_step{step}", "latest", "global_step{step}", "mp_rank_00_model_states.pt"}}) {
    CAPTURE(one.root);
    Pointed p(one.root, one.folder, one.pointer, one.text);
    CHECK(p.find().from == kNoStep);  // the one that it names is whole
    p.cut(with_step(p.layout.folder, 10), one.file);
    const LastWhole found = p.find();
    CHECK(found.kept == 20);
    CHECK(found.from == 21);
    CHECK(found.misled == std::map<std::string, std::string>{{p.root, with_step(one.text, 10)}});
    CHECK(contains(found.why, "step 10 is not to be resumed from"));
    EarlierFindings back;
    back.left_behind = {20};  // the run went back behind it
    CHECK(p.find(back).kept == kNoStep);
    p.cut(with_step(p.layout.folder, 20), one.file);
    CHECK(p.find().kept == kNoStep);
    CHECK(p.find().misled.empty());
  }
}

TEST_CASE("a newer one without what a resume needs is not gone on from before the trainer names it") {
  Pointed p("/ck/verl", "global_step_{step}", "latest_checkpointed_iteration.txt", "{step}");
  p.cut("global_step_10", "actor/model_world_size_2_rank_1.pt");
  REQUIRE(p.disk.remove("/ck/verl/global_step_20/actor/optim_world_size_2_rank_0.pt").ok());
  CHECK(p.find().kept == kNoStep);
}

TEST_CASE("a pointer to a broken checkpoint with a name of its own is to name the newest whole one") {
  Pointed p("/ck/openrlhf/_actor", "global_step{step}", "latest", "global_step{step}");
  for (const std::string file : {"mp_rank_00_model_states.pt", "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt"}) {
    const std::string from = cat(p.root, "/global_step20/", file);
    REQUIRE(p.disk.exists(from));
    p.disk.put(cat(p.root, "/best_global_step15/", file), p.disk.content(from));
  }
  p.point("best_global_step15");
  CHECK(p.find().from == kNoStep);
  p.cut("best_global_step15", "mp_rank_00_model_states.pt");
  const LastWhole found = p.find();
  CHECK(found.kept == 20);
  CHECK(found.from == 21);
  CHECK(found.misled == std::map<std::string, std::string>{{p.root, "best_global_step15"}});
  CHECK_MESSAGE(contains(found.why, "names best_global_step15, which is not to be resumed from: "), found.why);
}

TEST_CASE("a restart passes over a checkpoint without the optimizer that the one before has") {
  Trl trl;
  CHECK(trl.last().kept == 20);
  REQUIRE(trl.disk.remove(trl.folder + "/optimizer.pt").ok());
  const LastWhole found = trl.last();
  CHECK(found.kept == 10);
  CHECK(found.from == 20);
  CHECK(contains(found.why, "a resume needs what is not in it (optimizer), and the one before has it"));
  REQUIRE(trl.disk.remove("/ck/trl/checkpoint-10/optimizer.pt").ok());  // none has one: that is how it saves
  CHECK(trl.last().kept == 20);
}

TEST_CASE("a restart passes over a checkpoint that verify calls broken, once it called another one whole") {
  Trl trl;
  trl.disk.put(trl.folder + "/optimizer.pt", std::string(200'000, '\1'));
  REQUIRE(trl.disk.remove(trl.folder + "/trainer_state.json").ok());
  CHECK(trl.last().kept == 10);
  CHECK(scan_checkpoint(trl.disk, trl.folder, 20, nullptr).seen.how == How::kUnknown);  // nothing to compare with
}

TEST_CASE("a pointer that is missing is set again where a trainer would resume from what it is to name") {
  struct Case {
    const char *root, *folder, *pointer, *optimizer;
  };
  for (const Case& one : {Case{"/ck/verl", "global_step_{step}", "latest_checkpointed_iteration.txt", "optim_world"},
                          {"/ck/skyrl", "global_step_{step}", "latest_ckpt_global_step.txt", "optim_world"},
                          {"/ck/slime", "iter_{step:07}", "latest_checkpointed_iteration.txt", ""},
                          {"/ck/openrlhf/_actor", "global_step{step}", "latest", ""}}) {
    CAPTURE(one.root);
    FakeDisk disk;
    testing::put_samples(disk);
    const std::string root = one.root, pointer = cat(root, "/", one.pointer);
    if (disk.exists(pointer)) disk.unlink(pointer);
    const CheckpointLayout layout{one.folder, one.pointer, "{step}"};
    const auto find = [&](const std::vector<std::string>& roots) {
      return find_last_whole(disk, roots, layout, kNoStep);
    };
    const LastWhole found = find({root});
    CHECK(found.kept == 20);
    CHECK(found.from == 21);
    CHECK(found.why == "the pointer to the newest checkpoint is missing");
    CHECK(found.pointerless == std::set<std::string>{root});
    disk.put("/ck/other/latest_of_it", "");
    disk.put(cat("/ck/other/", one.pointer), "20");  // the folder that the trainer resumes from; those here are exports
    disk.put(cat("/ck/other/", with_step(layout.folder, 20), "/model.bin"), "weights");
    CHECK(find({root, "/ck/other"}).pointerless.empty());
    if (*one.optimizer == '\0') continue;
    for (const std::string& path : disk.paths()) {  // a trainer resumes from none of them
      if (path.starts_with(root) && contains(path, one.optimizer)) disk.unlink(path);
    }
    CHECK(find({root}).from == kNoStep);
    CHECK(find({root}).pointerless.empty());
  }
}

}  // namespace
}  // namespace mw
