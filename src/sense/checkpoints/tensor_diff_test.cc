#include "sense/checkpoints/tensor_diff.h"

#include <doctest/doctest.h>

#include "sense/checkpoints/checkpoint_tree.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/samples_for_test.h"

namespace mw {
namespace {

TEST_CASE("the tensors of two checkpoints of any layout are compared; the same one does not differ from itself") {
  FakeDisk disk;
  testing::put_samples(disk);
  for (const testing::Sample& sample : testing::samples()) {
    CAPTURE(sample.path);
    if (std::string_view(sample.layout) == "Megatron, zarr") continue;  // its numbers are not read tensor by tensor
    const std::string path = cat("/ck/", sample.path);
    const auto same = diff_tensors(disk, path, path, nullptr);
    REQUIRE(same.ok());
    CHECK_FALSE(same->tensors.empty());
    for (const TensorDifference& one : same->tensors) {
      CHECK(one.compared);
      CHECK(one.change.changed == 0);
    }
    if (*sample.before == '\0') continue;
    const auto diff = diff_tensors(disk, cat("/ck/", sample.before), path, nullptr);
    REQUIRE(diff.ok());
    CHECK(diff->tensors.size() == same->tensors.size());
    size_t changed = 0;
    for (const TensorDifference& one : diff->tensors) changed += one.compared && one.change.changed > 0 ? 1 : 0;
    CHECK(changed >= 1);
  }
}

TEST_CASE("what is in one only, or of another shape, is said") {
  FakeDisk disk;
  testing::put_samples(disk);
  const auto diff = diff_tensors(disk, "/ck/trl/checkpoint-10/model.safetensors",
                                 "/ck/trl-lora/checkpoint-10/adapter_model.safetensors", nullptr);
  REQUIRE(diff.ok());
  CHECK(diff->tensors.size() == 4);
  for (const TensorDifference& one : diff->tensors) CHECK_FALSE(one.compared);
  CHECK_FALSE(diff_tensors(disk, "/ck/trl/checkpoint-10", "/ck/nowhere", nullptr).ok());
  CHECK_FALSE(diff_tensors(disk, "/ck/trl/checkpoint-10", "/ck/areal/recover_info", nullptr).ok());
}

TEST_CASE("a file whose tensors cannot be read is named, and is not taken for one that lacks them") {
  FakeDisk disk;
  testing::put_samples(disk);
  for (const testing::Sample& sample : testing::samples()) {
    const std::string path = cat("/ck/", sample.path);
    CAPTURE(path);
    const auto whole = diff_tensors(disk, path, path, nullptr);
    if (whole.ok()) CHECK(whole->unread.empty());
  }
  const std::string one = "/ck/trl/checkpoint-20/model.safetensors",
                    two = "/ck/prime-rl/checkpoints/step_20/trainer/__0_0.distcp";
  disk.put(one, disk.content(one).substr(0, 300));
  const auto cut = diff_tensors(disk, "/ck/trl/checkpoint-10", "/ck/trl/checkpoint-20", nullptr);
  REQUIRE(cut.ok());
  REQUIRE(cut->unread.size() == 1);
  CHECK(contains(cut->unread[0], one));
  disk.put(two, disk.content(two).substr(0, 4000));
  const auto parts =
      diff_tensors(disk, "/ck/prime-rl/checkpoints/step_10", "/ck/prime-rl/checkpoints/step_20", nullptr);
  REQUIRE(parts.ok());
  REQUIRE(parts->unread.size() == 1);
  CHECK(contains(parts->unread[0], two));
}

TEST_CASE("tensors of one name in many files are kept apart, however many there are") {
  FakeDisk disk;
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::string file =
      std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header + "\1\2\3\4";
  constexpr size_t kFiles = 10'000;  // each against each of them would take a minute
  for (size_t i = 0; i < kFiles; ++i) disk.put(cat("/ck/step_1/", i, ".safetensors"), file);
  const auto same = diff_tensors(disk, "/ck/step_1", "/ck/step_1", nullptr);
  REQUIRE(same.ok());
  REQUIRE(same->tensors.size() == kFiles);
  for (const TensorDifference& one : same->tensors) CHECK(one.compared);
}

TEST_CASE("checkpoints are found below a folder, in the order of their steps, and beside one another") {
  FakeDisk disk;
  testing::put_samples(disk);
  const auto all = find_checkpoints(disk, "/ck");
  REQUIRE(all.ok());
  CHECK(all->size() == 39);
  const auto two = find_checkpoints(disk, "/ck/prime-rl");
  REQUIRE(two->size() == 2);
  CHECK((*two)[0].step == 10);
  CHECK((*two)[1].path == "/ck/prime-rl/checkpoints/step_20");
  CHECK(find_checkpoints(disk, "/ck/verl/global_step_20")->size() == 1);
  CHECK(find_checkpoints(disk, "/ck/torch-legacy/step-10/model.pt")->size() == 1);
  CHECK_FALSE(find_checkpoints(disk, "/nowhere").ok());
  CHECK(checkpoints_beside(disk, "/ck/trl/checkpoint-20").size() == 2);
  const auto pointers = pointers_beside(disk, "/ck/openrlhf/_actor/global_step20");
  REQUIRE(pointers.size() == 1);
  CHECK(pointers[0].step == 20);
  // A final export lies beside the steps.
  disk.put("/ck/trl/model.safetensors", disk.content("/ck/trl/checkpoint-20/model.safetensors"));
  const auto with_export = find_checkpoints(disk, "/ck/trl");
  REQUIRE(with_export->size() == 3);
  CHECK((*with_export)[0].path == "/ck/trl");
  // Likewise exports of AReaL beside its recover slot.
  disk.put("/ck/areal/default/epoch0epochstep7globalstep7/model.safetensors",
           disk.content("/ck/trl/model.safetensors"));
  CHECK(find_checkpoints(disk, "/ck/areal")->size() == 2);
  CHECK_FALSE(CheckpointTree::read(disk, "/ck/areal")->has_folder("default/epoch0epochstep7globalstep7"));
}

TEST_CASE("a folder that holds one checkpoint below others of its own is compared by what lies in that") {
  FakeDisk disk;
  testing::put_samples(disk);
  for (const std::string& path : disk.paths()) {
    constexpr std::string_view kOwn = "/ck/verl/global_step_20/";
    if (path.starts_with(kOwn)) disk.put(cat("/store/run/data/id/", path.substr(kOwn.size())), disk.content(path));
  }
  for (const bool turned : {false, true}) {
    const std::string own = "/ck/verl/global_step_20", other = "/store/run";
    const auto diff = diff_tensors(disk, turned ? other : own, turned ? own : other, nullptr);
    REQUIRE(diff.ok());
    CHECK_FALSE(diff->tensors.empty());
    for (const TensorDifference& one : diff->tensors) CHECK((one.compared && one.change.changed == 0));
  }
}

}  // namespace
}  // namespace mw
