#include "sense/checkpoints/other_format.h"

#include <doctest/doctest.h>

#include "sense/checkpoints/earlier.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

CheckpointVerdict look(FakeDisk& disk, const std::string& path, const CheckpointManifest* earlier = nullptr,
                       bool deep = false) {
  VerifyOptions options;
  options.now = Time::from_seconds(4e9);
  options.earlier = earlier;
  options.deep = deep;
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

TEST_CASE("a pointer, a page or an archive in the place of weights is corrupt, and what it is is said") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string model = "/ck/trl/checkpoint-20/model.safetensors", good = disk.content(model);
  const auto says = [&](const std::string& content) {
    disk.put(model, content);
    const CheckpointVerdict verdict = look(disk, "/ck/trl/checkpoint-20");
    CHECK(verdict.state == State::kCorrupt);
    return verdict.problems.empty() ? std::string() : verdict.problems.front().what;
  };
  CHECK(says("version https://git-lfs.github.com/spec/v1\noid sha256:00ff\nsize 90000\n") ==
        "it is a pointer of git-lfs: the file itself was not fetched (git lfs pull)");
  CHECK(says("\n<!DOCTYPE html><html><title>404</title></html>") ==
        "it is a page of HTML or XML, as a server answers instead of a file");
  CHECK(says("\x1f\x8b" + std::string(300, 'g')) == "it is an archive of gzip");
  // Encrypted, packed by somebody's own program: who knows.
  disk.put(model, "\x91\xe2\x7f" + std::string(90'000, '\x83'));
  CHECK(look(disk, "/ck/trl/checkpoint-20").state == State::kUnknown);
  disk.put(model, good);
  disk.put("/ck/trl/checkpoint-20/tokenizer_config.json", "version https://git-lfs.github.com/spec/v1\nsize 4\n");
  const CheckpointVerdict text = look(disk, "/ck/trl/checkpoint-20");
  CHECK(text.state == State::kCorrupt);
  CHECK(text.problems.front().what.starts_with("it is a pointer of git-lfs"));
}

TEST_CASE(
    "what a desktop or a share leaves is no part of a checkpoint, nor makes a small file of another kind it unknown") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string folder = "/ck/trl/checkpoint-20/";
  for (const char* name :
       {"._model.safetensors", ".DS_Store", ".nfs000000a1", "model.safetensors.lock", "config.json~"})
    disk.put(folder + name, std::string("\0\5\x16\7\0\2", 6) + std::string(4000, 'x'));
  const CheckpointVerdict verdict = look(disk, "/ck/trl/checkpoint-20");
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.notes == look(disk, "/ck/trl/checkpoint-10").notes);
  disk.put(folder + "transfer_queue/x.bin", std::string(5000, '\x7b'));
  CHECK(look(disk, "/ck/trl/checkpoint-20").state == State::kWhole);
  disk.put(folder + "transfer_queue/x.bin", std::string(70'000, '\x7b'));
  CHECK(look(disk, "/ck/trl/checkpoint-20").state == State::kUnknown);
}

TEST_CASE("a text that somebody mended since its bytes were recorded is a note; weights stay as they were recorded") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string folder = "/ck/trl/checkpoint-20";
  const CheckpointManifest then = manifest_of(look(disk, folder, nullptr, true), Time::from_seconds(1768470000));
  disk.set_time(Time::from_seconds(1768480000));
  disk.put(folder + "/tokenizer_config.json", "{\"chat_template\": \"{{ messages }}\"}");
  for (const bool deep : {false, true}) {
    const CheckpointVerdict mended = look(disk, folder, &then, deep);
    CHECK(mended.state == State::kWhole);
    REQUIRE(mended.problems.size() == 1);
    CHECK_FALSE(mended.problems.front().breaks);
    CHECK(mended.problems.front().path == "tokenizer_config.json");
  }
  disk.set_time(Time::from_seconds(1768465800));  // as if nobody had written to it: its bits rotted
  disk.put(folder + "/tokenizer_config.json", "{\"chat_template\": \"{{ massages }}\"}");
  CHECK(look(disk, folder, &then, true).state == State::kCorrupt);
  std::string model = disk.content(folder + "/model.safetensors");
  model.back() = static_cast<char>(model.back() ^ 1);
  disk.put(folder + "/model.safetensors", model);
  CHECK(look(disk, folder, &then, true).state == State::kCorrupt);
}

TEST_CASE("AReaL's recover_info of an earlier save than its weights is suspect, unless a copy may have done it") {
  FakeDisk disk;
  testing::put_samples(disk);
  CHECK(look(disk, "/ck/areal").state == State::kWhole);
  const auto again = [&](double seconds) {
    disk.set_time(Time::from_seconds(1768465800 + seconds));
    const std::string weights = "/ck/areal/default/recover_checkpoint";
    const auto names = disk.list(weights);
    REQUIRE(names.ok());
    for (const std::string& name : *names) disk.put(cat(weights, "/", name), disk.content(cat(weights, "/", name)));
    return look(disk, "/ck/areal");
  };
  CHECK(again(30).state == State::kWhole);
  const CheckpointVerdict later = again(3600);
  CHECK(later.state == State::kSuspect);
  CHECK(later.problems.front().path == "recover_info/dataloader_info.pkl");
}

TEST_CASE("a save over AReaL's slot that was cut anywhere is suspect") {
  const std::vector<std::string> order = {"default/recover_checkpoint/__0_0.distcp",
                                          "default/recover_checkpoint/__0_1.distcp",
                                          "default/recover_checkpoint/__0_2.distcp",
                                          "default/recover_checkpoint/__0_3.distcp",
                                          "default/recover_checkpoint/.metadata",
                                          "recover_info/step_info.json",
                                          "recover_info/saver_info.json",
                                          "recover_info/evaluator_info.json",
                                          "recover_info/stats_logger_info.json",
                                          "recover_info/checkpoint_info.json",
                                          "recover_info/dataloader_info.pkl"};
  for (size_t cut = 0; cut <= order.size(); ++cut) {
    FakeDisk disk;
    testing::put_samples(disk);
    const auto touch = [&](size_t i, double seconds) {
      const std::string path = cat("/ck/areal/", order[i]);
      REQUIRE(disk.exists(path));
      disk.set_time(Time::from_seconds(1768465800 + seconds));
      disk.put(path, disk.content(path));
    };
    for (size_t i = 0; i < order.size(); ++i) touch(i, 20.0 * static_cast<double>(i));  // a slow save
    CHECK(look(disk, "/ck/areal").state == State::kWhole);
    for (size_t i = 0; i < cut; ++i) touch(i, 2400 + static_cast<double>(i));
    CAPTURE(cut);
    CHECK((look(disk, "/ck/areal").state == State::kWhole) == (cut == 0 || cut == order.size()));
  }
}

TEST_CASE("NeMo-RL does not resume from what a save of the same step took the place of") {
  FakeDisk disk;
  testing::put_samples(disk);
  REQUIRE(disk.rename("/ck/nemo-rl/step_20", "/ck/nemo-rl/old_step_20").ok());
  const CheckpointVerdict verdict = look(disk, "/ck/nemo-rl/old_step_20");
  CHECK(verdict.resumable == CheckpointVerdict::Resumable::kNo);
  CHECK_FALSE(verdict.notes.empty());
}

}  // namespace
}  // namespace mw
