// Weights that are none, and numbers that cannot be judged.
#include <doctest/doctest.h>

#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verdict_text_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

struct World {
  FakeDisk disk;
  const std::string path = "/ck/trl/checkpoint-20";
  World() { testing::put_samples(disk); }
  void put(const std::string& name, const std::string& content) { disk.put(cat(path, "/", name), content); }
  CheckpointVerdict look(bool deep = false) { return look(path, deep); }
  CheckpointVerdict look(const std::string& at, bool deep = false, const CheckpointManifest* before = nullptr) {
    VerifyOptions options;
    options.deep = deep;
    options.now = Time::from_seconds(1768500000);
    if (before != nullptr) options.others.push_back(before);
    auto verdict = verify_checkpoint(disk, at, options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
};

std::string file_of(const std::string& header, const std::string& data) {
  std::string size(8, '\0');
  size[0] = static_cast<char>(header.size() & 255);
  size[1] = static_cast<char>(header.size() >> 8);
  return size + header + data;
}
std::string tensors(const std::string& dtype, int64_t rows, int64_t row, const std::string& data) {
  return file_of(cat(R"({"a.weight":{"dtype":")", dtype, R"(","shape":[)", rows, ",", row, R"(],"data_offsets":[0,)",
                     data.size(), "]}}"),
                 data);
}

TEST_CASE("a file of weights without a tensor, or whose tensors have no numbers, holds no weights") {
  World world;
  const std::string good = world.disk.content(world.path + "/model.safetensors");
  for (const std::string& header : {std::string(R"({"__metadata__":{"format":"pt"}})"), std::string("{}"),
                                    std::string(R"({"a.weight":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})"),
                                    std::string(R"({"a.weight":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},)"
                                                R"("b.weight":{"dtype":"BF16","shape":[0],"data_offsets":[0,0]}})")}) {
    for (const bool deep : {false, true}) {
      world.put("model.safetensors", file_of(header, ""));
      const CheckpointVerdict verdict = world.look(deep);
      INFO(text_of(verdict));
      CHECK(verdict.state == State::kPartial);
      CHECK(verdict.resumable == CheckpointVerdict::Resumable::kNo);
      REQUIRE_FALSE(verdict.problems.empty());
      CHECK(verdict.problems.front().trouble == Trouble::kMetadataOnly);
      // Beside weights it is somebody's: of an adapter, or of a ZeRO-3 that was not gathered.
      world.put("more.safetensors", good);
      CHECK(world.look(deep).state == State::kWhole);
      world.disk.unlink(world.path + "/more.safetensors");
    }
  }
}

TEST_CASE("an empty tensor beside others is none the worse") {
  World world;
  world.put("model.safetensors", file_of(R"({"a.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                         R"("b":{"dtype":"F32","shape":[0],"data_offsets":[8,8]}})",
                                         "abcdefgh"));
  CHECK(world.look().problems.empty());
}

TEST_CASE("NaN in weights of 8 bits is found, and zeros in them that were not there before") {
  World world;
  std::string numbers(512 * 512, '\x31');
  world.put("model.safetensors", tensors("F8_E4M3", 512, 512, numbers));
  CheckpointVerdict good = world.look(true);
  INFO(text_of(good));
  CHECK(good.state == State::kWhole);
  CHECK(good.deep.unjudged_bytes == 0);
  CheckpointManifest before = manifest_of(good, Time::from_seconds(1768470000));
  before.step = 10;
  std::fill(numbers.begin() + 40'000, numbers.begin() + 240'000, '\0');
  world.put("model.safetensors", tensors("F8_E4M3", 512, 512, numbers));
  CHECK(world.look(world.path, true, &before).state == State::kSuspect);
  numbers.assign(512 * 512, '\x31');
  numbers[77] = '\x7f';
  world.put("model.safetensors", tensors("F8_E4M3", 512, 512, numbers));
  const CheckpointVerdict nan = world.look(true);
  CHECK(nan.state == State::kSuspect);
  CHECK(contains(text_of(nan), "1 of the 262144 numbers of a.weight are NaN"));
}

TEST_CASE("how much of the weights could not be judged is said") {
  World world;
  world.put("model.safetensors", tensors("I8", 64, 64, std::string(64 * 64, '\x31')));
  CHECK(contains(text_of(world.look(true)), "(100%) are numbers that cannot be judged one by one (I8)"));
  CHECK(world.look(true).deep.unjudged_bytes == 64 * 64);
  CHECK_FALSE(contains(text_of(world.look()), "judged"));
}

TEST_CASE("a folder in the place of a file is named, and a link in a circle is said once") {
  World world;
  world.disk.unlink(world.path + "/config.json");
  REQUIRE(world.disk.make_folders(world.path + "/config.json").ok());
  const CheckpointVerdict verdict = world.look();
  INFO(text_of(verdict));
  CHECK(verdict.state == State::kPartial);
  CHECK(contains(text_of(verdict), "missing config.json: it is a folder, and a file of that name belongs there"));
}

TEST_CASE("weights of zarr that fell to zero since the save before are suspect") {
  World world;
  const std::string now = "/ck/megatron-zarr/iter_0000020", chunk = now + "/lm_head.weight/0.0";
  CheckpointManifest before = manifest_of(world.look("/ck/megatron-zarr/iter_0000010", true), Time::from_seconds(1));
  const std::string good = world.disk.content(chunk);
  REQUIRE(good.size() >= 256);
  CHECK(world.look(now, true, &before).state == State::kWhole);
  world.disk.put(chunk, std::string(good.size(), '\0'));
  const CheckpointVerdict verdict = world.look(now, true, &before);
  INFO(text_of(verdict));
  CHECK(verdict.state == State::kSuspect);
}

}  // namespace
}  // namespace mw
