// Files of checkpoints in whose place something else lies, and what else a verification must not take for whole.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/prng.h"
#include "platform/real/posix_disk.h"
#include "platform/system.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/open_files.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verdict_text_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

CheckpointVerdict verified(FakeDisk& disk, const std::string& path, bool deep = false) {
  VerifyOptions options;
  options.deep = deep;
  options.now = Time::from_seconds(1768500000);
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

std::string random_bytes(size_t size) {
  Prng random(7);
  std::string out;
  while (out.size() < size) out += static_cast<char>(random.below(256));
  return out;
}

struct Replaced {
  const char* name;
  std::string content;
};
std::vector<Replaced> replacements(const std::string& good) {
  std::string first = good, second = good;
  static const std::string many_random = random_bytes(300'000);
  first[0] = static_cast<char>(first[0] ^ 1);
  second[1] = static_cast<char>(second[1] ^ 0x20);
  return {{"zeros", std::string(good.size(), '\0')},
          {"many zeros", std::string(300'000, '\0')},
          {"random bytes", random_bytes(good.size())},
          {"many random bytes", many_random},
          {"a page of a web server", "<html>502 Bad Gateway</html>"},
          {"a pointer of git-lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1234\n"},
          {"its first byte flipped", first},
          {"its second byte flipped", second}};
}

bool is_of_pickles(std::string_view name) {
  return is_of_torch(name) || name.ends_with(".bin") || name.ends_with(".pkl");
}

TEST_CASE("no sample is whole with something else in the place of any file that torch or pickle wrote") {
  FakeDisk disk;
  testing::put_samples(disk);
  for (const testing::Sample& sample : testing::samples()) {
    const std::string folder = cat("/ck/", sample.path);
    const auto tree = CheckpointTree::read(disk, folder);
    REQUIRE(tree.ok());
    for (const TreeFile& file : tree->files()) {
      if (!is_of_pickles(file.name())) continue;
      const std::string path = cat(folder, "/", file.path), good = disk.content(path);
      for (const Replaced& one : replacements(good)) {
        // A .metadata says how long a file of its is.
        if (file.name().ends_with(".distcp") && one.content.size() != good.size()) continue;
        disk.put(path, one.content);
        const CheckpointVerdict verdict = verified(disk, folder);
        INFO(path << ": " << one.name << ": " << text_of(verdict));
        CHECK(verdict.state != State::kWhole);
        CHECK(verdict.state != State::kForeign);
        if (std::string_view(one.name) == "zeros") CHECK(verdict.state == State::kPartial);
      }
      disk.put(path, good);
    }
  }
}

TEST_CASE("files of accelerate that hold nothing but zeros, or a page of a web server, are named") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string checkpoint = "/ck/accelerate/checkpoint_3", folder = checkpoint + "/";
  const std::string pickle = disk.content("/ck/areal/recover_info/dataloader_info.pkl"),
                    archive = disk.content("/ck/trl/checkpoint-20/optimizer.pt");
  disk.put(folder + "model.safetensors", disk.content("/ck/trl/checkpoint-20/model.safetensors"));
  for (const char* name : {"optimizer.bin", "sampler.bin", "dl_state_dict_1.bin"}) disk.put(folder + name, archive);
  disk.put(folder + "scheduler.bin", disk.content("/ck/trl/checkpoint-20/scheduler.pt"));
  for (const char* name : {"random_states_0.pkl", "custom_checkpoint_0.pkl"}) disk.put(folder + name, pickle);
  CHECK(verified(disk, checkpoint).state == State::kWhole);
  disk.put(folder + "custom_checkpoint_0.pkl", "(lp0\nI1\na.");  // of pickle's protocol 0, which begins with anything
  CHECK(verified(disk, checkpoint).state == State::kWhole);
  for (const char* name : {"optimizer.bin", "scheduler.bin", "sampler.bin", "random_states_0.pkl"}) {
    const std::string good = disk.content(folder + name);
    for (const std::string& bad : {std::string(143'000, '\0'), std::string(3, '\0'), std::string("<html></html>")}) {
      disk.put(folder + name, bad);
      const CheckpointVerdict verdict = verified(disk, checkpoint);
      INFO(name << ": " << text_of(verdict));
      CHECK(verdict.state != State::kWhole);
      CHECK(verdict.state != State::kUnknown);
      REQUIRE_FALSE(verdict.problems.empty());
      CHECK(verdict.problems.front().path == name);
    }
    disk.put(folder + name, good);
  }
}

TEST_CASE("slime's place in the data, which lies outside of the checkpoint, must open too") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string path = "/ck/slime/rollout/global_dataset_state_dict_20.pt", good = disk.content(path);
  std::vector<Replaced> all = replacements(good);
  all.push_back({"cut", good.substr(0, good.size() / 2)});
  all.push_back({"empty", ""});
  for (const Replaced& one : all) {
    disk.put(path, one.content);
    const CheckpointVerdict verdict = verified(disk, "/ck/slime/iter_0000020");
    INFO(one.name << ": " << text_of(verdict));
    CHECK((verdict.state == State::kPartial || verdict.state == State::kCorrupt));
    REQUIRE_FALSE(verdict.problems.empty());
    CHECK(verdict.problems.front().path == "../rollout/global_dataset_state_dict_20.pt");
  }
  VerifyOptions options;  // it is written after the weights, and may be being written while they have long been there
  disk.set_time(Time::from_seconds(1768467000));
  disk.put(path, good.substr(0, 300));
  options.now = Time::from_seconds(1768467010);
  CHECK(verify_checkpoint(disk, "/ck/slime/iter_0000020", options)->state == State::kWriting);
}

TEST_CASE("a folder that was just made and has no file yet is being written") {
  std::string base = (std::filesystem::temp_directory_path() / "midwatch-replaced-XXXXXX").string();
  REQUIRE(::mkdtemp(base.data()) != nullptr);
  const auto disk = make_posix_disk();
  VerifyOptions options;
  const auto made = [&](const std::string& folder, double later) {
    std::filesystem::create_directories(cat(base, "/", folder));
    options.now = disk->info(cat(base, "/", folder))->changed + Duration::seconds(later);
    return verify_checkpoint(*disk, cat(base, "/", folder.substr(0, folder.find('/'))), options)->state;
  };
  CHECK(made("checkpoint-5", 1) == State::kWriting);
  CHECK(made("checkpoint-5", 59) == State::kWriting);
  CHECK(made("checkpoint-5", 61) == State::kPartial);
  CHECK(made("global_step_5/actor/huggingface", 1) == State::kWriting);
  CHECK(made("global_step_5/actor/huggingface", 61) == State::kPartial);
  CHECK(made("other", 1) == State::kForeign);
  std::filesystem::remove_all(base);
}

TEST_CASE("what a process still has open to write is being written, however long ago it last wrote") {
  FakeSystem system;
  system.files["/proc/12/fd/7"] = "/ck/trl/checkpoint-20/optimizer.pt";
  system.files["/proc/12/fdinfo/7"] = "pos:\t0\nflags:\t0100000\n";
  system.files["/proc/12/comm"] = "python3\n";
  const std::string folder = "/ck/trl/checkpoint-20";
  CHECK(writer_of(system, folder).empty());  // to read
  system.files["/proc/12/fdinfo/7"] = "pos:\t0\nflags:\t02100001\n";
  CHECK(writer_of(system, folder) == "process 12 (python3) has optimizer.pt open to write");
  CHECK(writer_of(system, folder + "/optimizer.pt") == "process 12 (python3) has optimizer.pt open to write");
  CHECK(writer_of(system, "/ck/trl/checkpoint-2").empty());
  FakeDisk disk;
  testing::put_samples(disk);
  VerifyOptions options;
  options.now = Time::from_seconds(1768500000);
  options.writer = [&system](const std::string& place) { return writer_of(system, place); };
  CHECK(verify_checkpoint(disk, folder, options)->state == State::kWhole);
  disk.put(folder + "/optimizer.pt", disk.content(folder + "/optimizer.pt").substr(0, 1000));
  const auto verdict = verify_checkpoint(disk, folder, options);
  CHECK(verdict->state == State::kWriting);
  CHECK(contains(text_of(*verdict), "process 12 (python3) has optimizer.pt open to write"));
  system.files["/proc/12/fd/7"] = "/ck/trl/checkpoint-20/train.log";  // open as long as the run lasts
  CHECK(verify_checkpoint(disk, folder, options)->state == State::kPartial);
}

TEST_CASE("a pointer that names its own folder, one above it or no text names nothing") {
  FakeDisk disk;
  testing::put_samples(disk);
  disk.put("/ck/x/model.pt", "x");
  disk.put("/ck/verl/release/model.pt", "x");
  const auto names = [&disk](const std::string& text) {
    disk.put("/ck/verl/latest", text);
    for (const CheckpointPointer& pointer : pointers_beside(disk, "/ck/verl/global_step_20")) {
      if (pointer.path == "/ck/verl/latest") return names_something(disk, pointer);
    }
    return true;
  };
  for (const std::string& text :
       {std::string(4, '\0'), std::string("20\0", 3), std::string("."), std::string(".."), std::string("../x"),
        std::string("../../../etc"), std::string("/"), std::string("./"), std::string("/nowhere"), std::string("abc"),
        std::string("latest"), std::string("\x01"), std::string("../verl"), std::string("a/b"),
        std::string("<html>503 Service Unavailable</html>"), std::string("../x/../global_step_20"),
        std::string("a/latest")}) {
    CAPTURE(text);
    CHECK_FALSE(names(text));
  }
  for (const char* text :
       {"release", "/ck/verl/global_step_20", "checkpoints/global_step_20", "verl/release", "global_step_20"}) {
    CAPTURE(text);
    CHECK(names(text));
  }
}

std::string safetensors(const std::vector<std::pair<std::string, std::string>>& tensors) {
  std::string header = "{", data;
  for (const auto& [name, bytes] : tensors) {
    header += cat(header.size() > 1 ? "," : "", "\"", name, "\":{\"dtype\":\"F32\",\"shape\":[", bytes.size() / 4,
                  "],\"data_offsets\":[", data.size(), ",", data.size() + bytes.size(), "]}");
    data += bytes;
  }
  header += "}";
  std::string size(8, '\0');
  size[0] = static_cast<char>(header.size() & 255);
  size[1] = static_cast<char>(header.size() >> 8);
  return size + header + data;
}

TEST_CASE("weights that are zeros and nothing else are suspect; the second half of a fresh adapter is not") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string zeros(32, '\0'), ones("\0\0\x80\x3f\0\0\x80\x3f", 8);
  const auto state = [&](const std::vector<std::pair<std::string, std::string>>& tensors, bool deep) {
    disk.put("/ck/zero/model.safetensors", safetensors(tensors));
    return verified(disk, "/ck/zero", deep).state;
  };
  CHECK(state({{"a.weight", zeros}, {"b.weight", zeros}}, false) == State::kWhole);
  CHECK(state({{"a.weight", zeros}, {"b.weight", zeros}}, true) == State::kSuspect);
  CHECK(state({{"a.lora_A.weight", ones}, {"a.lora_B.weight", zeros}}, true) == State::kWhole);
  CHECK(state({{"a.weight", zeros}, {"b.bias", std::string(200'000, '\0')}}, true) == State::kSuspect);
  std::string packed = safetensors({{"a.bias", zeros}, {"a.weight", std::string(200'000, '\1')}});
  packed.replace(packed.rfind("F32"), 3, "I32");  // a kind of number that is not looked at
  disk.put("/ck/zero/model.safetensors", packed);
  CHECK(verified(disk, "/ck/zero", true).state == State::kWhole);
  // An optimizer that has numbers does not stand for weights that have none.
  const std::string checkpoint = "/ck/trl/checkpoint-20", folder = checkpoint + "/";
  std::string model = disk.content(folder + "model.safetensors");
  const size_t data = 8 + static_cast<unsigned char>(model[0]) + (size_t{static_cast<unsigned char>(model[1])} << 8);
  CHECK(verified(disk, checkpoint, true).state == State::kWhole);
  std::fill(model.begin() + static_cast<std::ptrdiff_t>(data), model.end(), '\0');
  disk.put(folder + "model.safetensors", model);
  const CheckpointVerdict verdict = verified(disk, checkpoint, true);
  CHECK(verdict.state == State::kSuspect);
  CHECK(contains(text_of(verdict), "tensors of weights is zero"));
}

TEST_CASE("one file with a model, its optimizer and a step is not weights alone") {
  FakeDisk disk;
  testing::put_samples(disk);
  const CheckpointVerdict all = verified(disk, "/ck/megatron-legacy/iter_0000020/mp_rank_00/model_optim_rng.pt");
  CHECK(all.state == State::kWhole);
  CHECK(all.resumable == CheckpointVerdict::Resumable::kUnknown);  // its framework is not known
  const auto has = [&all](Piece piece) {
    return std::find(all.pieces.begin(), all.pieces.end(), piece) != all.pieces.end();
  };
  CHECK((has(Piece::kOptimizer) && has(Piece::kScheduler) && has(Piece::kRng) && has(Piece::kStep)));
  const CheckpointVerdict weights = verified(disk, "/ck/torch-legacy/step-20/model.pt");
  CHECK(weights.resumable == CheckpointVerdict::Resumable::kNo);
  CHECK(weights.pieces.empty());
}

}  // namespace
}  // namespace mw
