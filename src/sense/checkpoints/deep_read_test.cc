#include "sense/checkpoints/deep_read.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/last_whole.h"
#include "sense/checkpoints/samples_for_test.h"

namespace mw {
namespace {

using How = event::CheckpointRead::How;

/// One tensor of F32 with these numbers.
std::string safetensors(const std::vector<float>& numbers) {
  const size_t bytes = numbers.size() * sizeof(float);
  const std::string header =
      cat(R"({"layers.0.mlp":{"dtype":"F32","shape":[)", numbers.size(), R"(],"data_offsets":[0,)", bytes, "]}}");
  std::string out(8, '\0');
  for (size_t i = 0; i < 8; ++i) out[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  std::string data(bytes, '\0');
  std::memcpy(data.data(), numbers.data(), bytes);
  return out + header + data;
}

constexpr double kSaved = 1'768'465'800;

struct World {
  FakeDisk disk;
  std::atomic<bool> stop{false};
  double at = kSaved;

  void save(int64_t step, const std::vector<float>& numbers) {
    at += 600;
    disk.set_time(Time::from_seconds(at));
    disk.put(cat("/ck/checkpoint-", step, "/model.safetensors"), safetensors(numbers));
    disk.put(cat("/ck/checkpoint-", step, "/config.json"), "{}");
  }
  DeepRead look(int64_t step, double age = 300) {
    return read_deeply(disk, {cat("/ck/checkpoint-", step), step, "/home", 1, Time::from_seconds(at + age), nullptr},
                       stop);
  }
};

std::vector<float> around(float level) {
  std::vector<float> numbers(1000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = level * (1 + 0.001F * static_cast<float>(i % 7));
  return numbers;
}

TEST_CASE("numbers that are not finite are named with their tensor; what is sane is remembered") {
  World world;
  world.save(10, around(0.02F));
  const DeepRead sane = world.look(10);
  REQUIRE(sane.how == DeepRead::How::kRead);
  CHECK(sane.read.how == How::kSane);
  CHECK(sane.read.bytes > 4000);
  CHECK(load_manifest(world.disk, "/home", "/ck/checkpoint-10").ok());
  auto numbers = around(0.021F);
  numbers[500] = std::numeric_limits<float>::quiet_NaN();
  world.save(20, numbers);
  const DeepRead suspect = world.look(20);
  REQUIRE(suspect.how == DeepRead::How::kRead);
  CHECK(suspect.read.how == How::kSuspect);
  CHECK(contains(suspect.read.what, "layers.0.mlp"));
  CHECK(contains(suspect.read.what, "NaN"));
}

TEST_CASE("weights that are ten times as large as in the save before are suspect") {
  World world;
  world.save(10, around(0.02F));
  (void)world.look(10);
  world.save(20, around(0.5F));
  CHECK(world.look(20).read.how == How::kSuspect);
  world.save(30, around(0.05F));
  CHECK(world.look(30).read.how != How::kCorrupt);
}

TEST_CASE("of real samples all are sane, and a bit that is flipped in an archive is corrupt") {
  FakeDisk disk;
  testing::put_samples(disk);
  std::atomic<bool> stop{false};
  for (const testing::Sample& sample : testing::samples()) {
    CAPTURE(std::string(sample.layout));
    const DeepJob job{cat("/ck/", sample.path), 20, "/home", 1, Time::from_seconds(kSaved + 1e6), nullptr};
    const DeepRead look = read_deeply(disk, job, stop);
    REQUIRE(look.how == DeepRead::How::kRead);
    CAPTURE(look.read.what);
    CHECK(look.read.how == How::kSane);
  }
  const std::string file = "/ck/verl/global_step_20/actor/model_world_size_2_rank_0.pt";
  std::string content = disk.content(file);
  REQUIRE(content.size() > 1000);
  content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 0x40);
  disk.put(file, content);
  const DeepRead look =
      read_deeply(disk, {"/ck/verl/global_step_20", 20, "", 1, Time::from_seconds(kSaved + 1e6), nullptr}, stop);
  REQUIRE(look.how == DeepRead::How::kRead);
  CHECK(look.read.how == How::kCorrupt);
}

TEST_CASE("that a checkpoint is corrupt by its own checksums is remembered, and nothing is compared with it") {
  FakeDisk disk;
  testing::put_samples(disk);
  std::atomic<bool> stop{false};
  const std::string folder = "/ck/verl/global_step_20", file = folder + "/actor/model_world_size_2_rank_0.pt";
  const std::string whole = disk.content(file);
  std::string torn = whole;
  torn[torn.size() / 2] = static_cast<char>(torn[torn.size() / 2] ^ 0x40);
  const auto look = [&](double at) {
    return read_deeply(disk, {folder, 20, "/home", 1, Time::from_seconds(kSaved + at), nullptr}, stop).read.how;
  };
  const auto verdict = [&] {
    const auto manifest = load_manifest(disk, "/home", folder);
    return manifest.ok() ? manifest->verdict : "";
  };
  disk.put(file, torn);
  CHECK(look(1e6) == How::kCorrupt);
  CHECK(verdict() == "corrupt");
  disk.set_time(Time::from_seconds(kSaved + 1.1e6));
  disk.put(file, whole);  // repaired
  CHECK(look(2e6) == How::kSane);
  CHECK(verdict() == "whole");
  disk.put(file, torn);  // rotten: nobody wrote to it since
  CHECK(look(3e6) == How::kCorrupt);
  CHECK(verdict() == "whole");  // whose checksums say that, whatever the format has
  disk.set_time(Time::from_seconds(kSaved + 4e6));
  disk.put(file, torn);  // saved anew
  CHECK(look(5e6) == How::kCorrupt);
  CHECK(verdict() == "corrupt");
}

TEST_CASE("nothing is read while a newer one is written beside it, and a stop is heard") {
  World world;
  world.save(10, around(0.02F));
  world.disk.put("/ck/checkpoint-20/model.safetensors", "half");
  CHECK(world.look(10, 5).how == DeepRead::How::kBusy);
  CHECK(world.look(10, 300).how == DeepRead::How::kRead);  // it was left behind by a crash
  world.stop = true;
  CHECK(world.look(10).how == DeepRead::How::kStopped);
}

TEST_CASE("the work takes no larger share of the time than it may") {
  Duration slept;
  const Pacer pacer(0.01, [&slept](Duration time) { slept.ns += time.ns; });
  for (int i = 0; i < 10; ++i) pacer.rest(Duration::millis(5));
  CHECK(slept.seconds() == doctest::Approx(0.05 * 99));
  const Pacer whole(1, [&slept](Duration) { slept = {}; });
  whole.rest(Duration::seconds(1));
  CHECK(slept.ns > 0);
}

TEST_CASE("a restart passes over what reading found unsound, unless it was saved anew") {
  World world;
  const CheckpointLayout layout{"checkpoint-{step}", "", "", {}};
  world.save(10, around(0.02F));
  auto numbers = around(0.02F);
  numbers[3] = std::numeric_limits<float>::infinity();
  world.save(20, numbers);
  CHECK(find_last_whole(world.disk, {"/ck"}, layout, kNoStep).kept == 20);
  const event::CheckpointRead read = world.look(20).read;
  REQUIRE(read.how == How::kSuspect);
  const EarlierFindings unsound = {{{"/ck/checkpoint-20", read}}, {}};
  const LastWhole found = find_last_whole(world.disk, {"/ck"}, layout, kNoStep, {}, unsound);
  CHECK(found.kept == 10);
  CHECK(found.from == 20);
  CHECK(contains(found.why, "layers.0.mlp"));
  world.save(20, around(0.02F));
  CHECK(find_last_whole(world.disk, {"/ck"}, layout, kNoStep, {}, unsound).kept == 20);
}

TEST_CASE("a checkpoint that is a file is compared with the file of the save before") {
  const auto read = [](float now, const std::string& other) {
    World world;
    const auto look = [&world](int64_t step, const std::string& name, float level) {
      world.at += 600;
      world.disk.set_time(Time::from_seconds(world.at));
      world.disk.put(cat("/ck/", name), safetensors(around(level)));
      const Time later = Time::from_seconds(world.at + 300);
      return read_deeply(world.disk, {cat("/ck/", name), step, "/home", 1, later, nullptr}, world.stop).read;
    };
    CHECK(look(10, other, 0.02F).how == How::kSane);
    return look(20, "ckpt_20.safetensors", now);
  };
  CHECK(read(0.021F, "ckpt_10.safetensors").how == How::kSane);
  CHECK(read(20, "ckpt_10.safetensors").how == How::kSuspect);
  CHECK(contains(read(20, "ckpt_10.safetensors").what, "in ckpt_10.safetensors: no training does that"));
  CHECK(read(0, "ckpt_10.safetensors").how == How::kSuspect);
  CHECK(read(20, "critic_ckpt_10.safetensors").how == How::kSane);  // of another family
}

}  // namespace
}  // namespace mw
