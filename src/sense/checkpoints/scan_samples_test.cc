// What a watch and a restart make of real checkpoints, whole and with a file missing: never more than verify does.
#include <doctest/doctest.h>

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
  // In the order of how little their own bytes show: a file of PyTorch DCP says nothing of its length.
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

}  // namespace
}  // namespace mw
