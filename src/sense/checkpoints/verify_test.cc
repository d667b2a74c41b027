#include "sense/checkpoints/verify.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/prng.h"
#include "platform/real/posix_disk.h"
#include "read/files/pickle.h"
#include "sense/checkpoints/samples_for_test.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;
using Resumable = CheckpointVerdict::Resumable;

const Time kLater = Time::from_seconds(1768500000);

std::string text_of(const CheckpointVerdict& verdict) {
  std::string out = cat(word_of(verdict.state), " ", verdict.framework, " ");
  for (const std::string& layout : verdict.layouts) out += cat("[", layout, "]");
  for (const CheckpointProblem& one : verdict.problems)
    out += cat("\n  ", word_of(one.trouble), " ", one.path, ": ", one.what);
  for (const std::string& note : verdict.notes) out += cat("\n  note ", note);
  for (const Piece piece : verdict.lacks) out += cat("\n  lacks ", word_of(piece));
  return out;
}

CheckpointVerdict verified(FakeDisk& disk, const std::string& path, bool deep = false) {
  VerifyOptions options;
  options.deep = deep;
  options.now = kLater;
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

TEST_CASE("several threads find what one finds, in the same order") {
  std::string base = (std::filesystem::temp_directory_path() / "midwatch-verify-XXXXXX").string();
  REQUIRE(::mkdtemp(base.data()) != nullptr);
  std::filesystem::copy(testing::samples_folder(), base, std::filesystem::copy_options::recursive);
  const std::string damaged = base + "/verl/global_step_20/actor/";
  for (const char* name : {"model_world_size_2_rank_0.pt", "model_world_size_2_rank_1.pt"}) {
    std::fstream file(damaged + name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(0, std::ios::end);
    file.seekp(static_cast<std::streamoff>(file.tellp()) / 2);
    file << "damage";
  }
  const auto disk = make_posix_disk();
  for (const testing::Sample& sample : testing::samples()) {
    CAPTURE(sample.path);
    VerifyOptions options;
    options.deep = true;
    options.now = Time::from_seconds(4e9);
    const auto one = verify_checkpoint(*disk, cat(base, "/", sample.path), options);
    options.threads = 4;
    int64_t done = 0;
    options.progress = [&done](int64_t so_far, int64_t) {
      CHECK(so_far > done);
      done = so_far;
      return true;
    };
    const auto four = verify_checkpoint(*disk, cat(base, "/", sample.path), options);
    REQUIRE((one.ok() && four.ok()));
    CHECK(text_of(*one) == text_of(*four));
    CHECK(done == one->bytes);
    CHECK(four->deep.tensors == one->deep.tensors);
    REQUIRE(four->hashed.size() == one->hashed.size());
    for (size_t i = 0; i < one->hashed.size(); ++i) CHECK(four->hashed[i].xxh3 == one->hashed[i].xxh3);
  }
  std::filesystem::remove_all(base);
}

TEST_CASE("each sample that a real library wrote is whole, at every depth") {
  FakeDisk disk;
  testing::put_samples(disk);
  for (const testing::Sample& sample : testing::samples()) {
    CAPTURE(sample.path);
    for (const bool deep : {false, true}) {
      const CheckpointVerdict verdict = verified(disk, cat("/ck/", sample.path), deep);
      INFO(text_of(verdict));
      CHECK(verdict.state == State::kWhole);
      CHECK(verdict.problems.empty());
      CHECK((verdict.resumable == Resumable::kYes) == sample.resumable);
      CHECK_FALSE(verdict.layouts.empty());
      if (std::string_view(sample.path).find("legacy") == std::string_view::npos || sample.resumable)
        CHECK(verdict.step == 20);
      CHECK(verdict.depth == (deep ? CheckDepth::kSane : CheckDepth::kStructural));
      if (deep) CHECK(verdict.deep.tensors > 0);
      if (deep) CHECK(verdict.hashed.size() == verdict.files);
    }
  }
}

CheckpointProblem first_problem(const CheckpointVerdict& verdict) {
  return verdict.problems.empty() ? CheckpointProblem{} : verdict.problems.front();
}

TEST_CASE("what is wrong is named: missing, cut, empty, zeros, damaged, without weights, of another step") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string model = "/ck/trl/checkpoint-20/model.safetensors", good = disk.content(model);
  const auto trouble = [&](const std::string& content) {
    disk.put(model, content);
    const CheckpointVerdict verdict = verified(disk, "/ck/trl/checkpoint-20");
    INFO(text_of(verdict));
    CHECK(verdict.state != State::kWhole);
    CHECK(verdict.resumable == Resumable::kNo);
    disk.put(model, good);
    return first_problem(verdict).trouble;
  };
  CHECK(trouble("") == Trouble::kEmpty);
  CHECK(trouble(good.substr(0, good.size() - 1)) == Trouble::kTruncated);
  CHECK(trouble(std::string(good.size(), '\0')) == Trouble::kZeros);
  CHECK(trouble(good + "x") == Trouble::kDamaged);
  std::string shape = good;
  shape[shape.find("[16, 8]") + 1] = '2';
  CHECK(trouble(shape) == Trouble::kDamaged);

  disk.unlink("/ck/skyrl/global_step_20/policy/optim_world_size_2_rank_1.pt");
  CHECK(first_problem(verified(disk, "/ck/skyrl/global_step_20")).path == "policy/optim_world_size_2_rank_1.pt");
  disk.put("/ck/deepspeed-zero3/global_step20/zero_pp_rank_1_mp_rank_00_model_states.pt",
           disk.content("/ck/deepspeed-zero3/global_step10/zero_pp_rank_1_mp_rank_00_model_states.pt"));
  const CheckpointVerdict mixed = verified(disk, "/ck/deepspeed-zero3/global_step20");
  CHECK(mixed.state == State::kCorrupt);
  CHECK(first_problem(mixed).trouble == Trouble::kMixed);
  CHECK(first_problem(mixed).path == "zero_pp_rank_1_mp_rank_00_model_states.pt");
  disk.put("/ck/seed/global_step_4/policy/common.pt",
           disk.content("/ck/skyrl-megatron/global_step_20/policy/common.pt"));
  const CheckpointVerdict seed = verified(disk, "/ck/seed/global_step_4");
  CHECK(seed.state == State::kPartial);
  CHECK(std::any_of(seed.problems.begin(), seed.problems.end(),
                    [](const CheckpointProblem& one) { return one.trouble == Trouble::kMetadataOnly; }));
}

TEST_CASE("what may still become whole is being written") {
  FakeDisk disk;
  testing::put_samples(disk);
  disk.unlink("/ck/nemo-rl/step_20/train_dataloader.pt");
  VerifyOptions options;
  const auto state = [&](double seconds) {
    options.now = Time::from_seconds(1768465800 + seconds);
    return verify_checkpoint(disk, "/ck/nemo-rl/step_20", options)->state;
  };
  CHECK(state(0) == State::kWriting);
  CHECK(state(59) == State::kWriting);
  CHECK(state(61) == State::kPartial);
  CHECK(state(-3600) == State::kPartial);  // a clock that was set back says nothing
  // Whole, and no file of it says that the save is done.
  options.now = Time::from_seconds(1768465802);
  CHECK(verify_checkpoint(disk, "/ck/areal-export/epoch0epochstep20globalstep20", options)->state == State::kWriting);
  CHECK(verify_checkpoint(disk, "/ck/verl/global_step_20", options)->state == State::kWhole);
}

TEST_CASE("NaN in weights is suspect, in a mask it is not") {
  FakeDisk disk;
  const auto put = [&disk](const std::string& name) {
    const std::string header = cat("{\"", name, "\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}");
    std::string file(8, '\0');
    file[0] = static_cast<char>(header.size());
    disk.put("/ck/one/model.safetensors", file + header + std::string("\0\0\xc0\x7f\0\0\x80\x3f", 8));
  };
  put("w");
  CHECK(verified(disk, "/ck/one").state == State::kWhole);
  const CheckpointVerdict bad = verified(disk, "/ck/one", true);
  CHECK(bad.state == State::kSuspect);
  CHECK(bad.deep.all.nan == 1);
  CHECK(first_problem(bad).depth == CheckDepth::kSane);
  put("attn.mask");
  CHECK(verified(disk, "/ck/one", true).state == State::kWhole);
}

TEST_CASE("a shard of another step that keeps its time is suspect, and other times say nothing") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string folder = "/ck/verl/global_step_20", other = "/ck/verl/global_step_10",
                    shard = "/actor/model_world_size_2_rank_1.pt";
  const Time saved = Time::from_seconds(1768465800), before = Time::from_seconds(1768465800 - 1800);
  const auto write_at = [&disk](const std::string& path, const std::string& content, Time at) {
    disk.set_time(at);
    if (disk.info(path).ok()) disk.unlink(path);
    disk.put(path, content);
  };
  const auto written_again = [&](const std::string& at, Time time) {
    const auto tree = CheckpointTree::read(disk, at);
    for (const TreeFile& file : tree->files()) {
      write_at(cat(at, "/", file.path), disk.content(cat(at, "/", file.path)), time);
    }
  };
  written_again(other, before);
  VerifyOptions options;
  options.now = kLater;
  options.beside = {other};
  CHECK(verify_checkpoint(disk, folder, options)->state == State::kWhole);
  const std::string own = disk.content(folder + shard);
  write_at(folder + shard, disk.content(other + shard), before);
  const auto mixed = verify_checkpoint(disk, folder, options);
  CHECK(mixed->state == State::kSuspect);
  CHECK(first_problem(*mixed).trouble == Trouble::kSameBytes);
  CHECK(first_problem(*mixed).path == shard.substr(1));
  const std::string theirs = disk.content(other + shard);
  disk.unlink(other + shard);  // it was moved here
  CHECK(first_problem(*verify_checkpoint(disk, folder, options)).trouble == Trouble::kOtherTime);
  std::string saved_again = theirs;  // what lies there is another one: this one was not copied from it
  saved_again[saved_again.size() / 2] ^= 1;
  write_at(other + shard, saved_again, before);
  CHECK(verify_checkpoint(disk, folder, options)->state == State::kWhole);
  write_at(other + shard, theirs, before);
  options.beside = {};
  CHECK(verify_checkpoint(disk, folder, options)->state == State::kWhole);
  options.beside = {other};
  write_at(folder + shard, own, before + Duration::seconds(-600));  // of neither: kept from elsewhere
  CHECK(verify_checkpoint(disk, folder, options)->state == State::kWhole);
  write_at(folder + shard, own, saved + Duration::seconds(900));  // copied since, or slow to upload
  const auto late = verify_checkpoint(disk, folder, options);
  CHECK(late->state == State::kWhole);
  REQUIRE(late->problems.size() == 1);
  CHECK(late->problems[0].trouble == Trouble::kOtherTime);
  CHECK_FALSE(late->problems[0].breaks);
  written_again(folder, saved);
  written_again(other, saved);  // both were copied here: one time for all
  CHECK(verify_checkpoint(disk, folder, options)->state == State::kWhole);
}

TEST_CASE("a manifest finds what changed, whose it is, and that a save to the same place says nothing") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string folder = "/ck/areal-export/epoch0epochstep20globalstep20",
                    other = "/ck/areal-export/epoch0epochstep10globalstep10";
  const CheckpointManifest before = manifest_of(verified(disk, other, true), kLater);
  const auto parsed = parse_checkpoint_manifest(manifest_json(manifest_of(verified(disk, folder, true), kLater)));
  REQUIRE(parsed.ok());
  VerifyOptions options;
  options.now = kLater;
  options.deep = true;
  options.earlier = &*parsed;
  options.others = {&before};
  CHECK(verify_checkpoint(disk, folder, options)->state == State::kWhole);
  CHECK(verify_checkpoint(disk, folder, options)->compared);
  disk.set_time(Time::from_seconds(1768480000));
  disk.put(folder + "/model.safetensors", disk.content(other + "/model.safetensors"));
  options.deep = false;
  const auto shallow = verify_checkpoint(disk, folder, options);  // says that it was written since, and what would tell
  CHECK(shallow->state == State::kWhole);
  REQUIRE(shallow->problems.size() == 1);
  CHECK(shallow->problems[0].trouble == Trouble::kChanged);
  CHECK(contains(shallow->problems[0].what, "--deep"));
  options.deep = true;
  const auto mixed = verify_checkpoint(disk, folder, options);
  CHECK(mixed->state == State::kCorrupt);
  CHECK(first_problem(*mixed).trouble == Trouble::kMixed);
  disk.set_time(Time::from_seconds(1768490000));
  std::string model = disk.content(folder + "/model.safetensors");
  model.back() = static_cast<char>(model.back() ^ 1);
  for (const char* name : {"model.safetensors", "config.json", "tokenizer_config.json"}) {
    const std::string path = cat(folder, "/", name),
                      content = path.ends_with("model.safetensors") ? model : disk.content(path);
    disk.unlink(path);
    disk.put(path, content);
  }
  const auto anew = verify_checkpoint(disk, folder, options);
  CHECK(anew->state == State::kWhole);
  CHECK_FALSE(anew->compared);
}

TEST_CASE("without some of its files a checkpoint is whole only if nothing calls for them") {
  FakeDisk disk;
  testing::put_samples(disk);
  Prng random(7);
  for (const testing::Sample& sample : testing::samples()) {
    if (std::string_view(sample.layout) == "Megatron, zarr") continue;  // nothing lists its tensors: one may go unseen
    const std::string folder = cat("/ck/", sample.path);
    const CheckpointVerdict good = verified(disk, folder, true);
    std::set<std::string> optional;  // a manifest alone would miss them
    std::map<std::string, std::string> content;
    for (const ManifestFile& file : good.hashed) {
      const std::string path = cat(folder, "/", file.path);
      content[path] = disk.content(path);
      disk.unlink(path);
      const CheckpointVerdict verdict = verified(disk, folder);
      if (verdict.state == State::kWhole && verdict.resumable == good.resumable) optional.insert(path);
      disk.put(path, content[path]);
    }
    for (int round = 0; round < 40; ++round) {
      bool needed = false;
      for (const auto& [path, bytes] : content) {
        if (random.below(3) != 0) continue;
        disk.unlink(path);
        needed = needed || optional.count(path) == 0;
      }
      const CheckpointVerdict verdict = verified(disk, folder);
      CAPTURE(sample.path);
      INFO(text_of(verdict));
      CHECK((verdict.state == State::kWhole && verdict.resumable == good.resumable) == !needed);
      for (const auto& [path, bytes] : content) disk.put(path, bytes);
    }
  }
}

TEST_CASE("of several ranks one without its rng is noted") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string folder = "/ck/trl/checkpoint-20/", rng = disk.content(folder + "rng_state.pth");
  const auto noted = [&] {
    const CheckpointVerdict verdict = verified(disk, "/ck/trl/checkpoint-20");
    CHECK(verdict.state == State::kWhole);
    CHECK(verdict.resumable == CheckpointVerdict::Resumable::kYes);
    return contains(text_of(verdict), "not every rank's rng is in it: rng_state_2.pth is not there");
  };
  for (const char* rank : {"0", "1", "3"}) disk.put(cat(folder, "rng_state_", rank, ".pth"), rng);
  disk.unlink(folder + "rng_state.pth");
  CHECK(noted());
  disk.put(folder + "rng_state_2.pth", rng);
  CHECK_FALSE(noted());
  disk.unlink(folder + "rng_state_0.pth");  // of a machine that has not the first ranks
  CHECK_FALSE(noted());
}

/// Reads that fail from the `good`th on, as of a disk that does not answer any longer.
class FailingFile final : public ReadFile {
 public:
  FailingFile(std::string bytes, int good) : bytes_(std::move(bytes)), good_(good) {}
  Result<void> read_at(uint64_t offset, size_t size, std::string& out) override {
    if (good_-- <= 0) return Error{Error::Code::kIo, "cannot read", ""};
    out = bytes_.substr(std::min<size_t>(offset, bytes_.size()), size);
    return {};
  }
  Result<FileInfo> info() override { return Error{}; }

 private:
  std::string bytes_;
  int good_;
};

TEST_CASE("what the disk does not give is not called damaged") {
  FakeDisk disk;
  testing::put_samples(disk);
  for (const char* path : {"/ck/trl/checkpoint-20/model.safetensors", "/ck/trl/checkpoint-20/optimizer.pt",
                           "/ck/torch-legacy/step-20/model.pt", "/ck/areal/recover_info/dataloader_info.pkl"}) {
    const std::string bytes = disk.content(path);
    bool whole = false;
    for (int good = 0; good < 100 && !whole; ++good) {
      FailingFile file(bytes, good);
      const FileDirectory directory = read_directory(file, basename(path), bytes.size());
      whole = directory.proven;
      CAPTURE(path);
      CHECK((whole || (directory.found.size() == 1 && directory.found[0].trouble == Trouble::kUnreadable)));
    }
    CHECK(whole);
  }
  FakeDisk::Faults faults;
  faults.look = 1;
  faults.look_under = "/ck/trl/checkpoint-20/optimizer.pt";
  disk.set_faults(faults);
  CHECK(verified(disk, "/ck/trl/checkpoint-20", true).state == State::kUnknown);
}

TEST_CASE("where the .metadata is larger than what is read, its files must be archives from end to end") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string trainer = "/ck/prime-rl/checkpoints/step_20/trainer/",
                    data = disk.content(trainer + "__0_0.distcp");
  std::string large("\x80\x02\x8c\x0c__0_0.distcp0", 17);
  for (size_t i = 0; i <= kPickleValues; ++i) large += "N0";
  disk.put(trainer + ".metadata", large + "N.");
  const auto verdict = [&disk](bool deep) { return verified(disk, "/ck/prime-rl/checkpoints/step_20", deep); };
  INFO(text_of(verdict(true)));
  CHECK(verdict(false).state == State::kWhole);
  CHECK(verdict(true).deep.tensors == 4);
  CHECK_FALSE(verdict(false).notes.empty());
  for (const size_t size : {size_t{0}, size_t{1}, data.size() / 2, data.size() - 1}) {
    disk.put(trainer + "__0_0.distcp", data.substr(0, size));
    CHECK(verdict(false).state == State::kPartial);
  }
  std::string flipped = data;
  flipped[flipped.size() / 3] ^= 1;
  disk.put(trainer + "__0_0.distcp", flipped);
  CHECK(verdict(true).state == State::kCorrupt);
}

TEST_CASE("what accelerate saved into a folder named checkpoint-N is whole") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string from = "/ck/trl/checkpoint-20/", to = "/a/checkpoint-500/";
  const auto copy = [&](const std::string& name, const std::string& as) {
    disk.put(to + as, disk.content(from + name));
  };
  copy("model.safetensors", "pytorch_lora_weights.safetensors");
  copy("optimizer.pt", "optimizer.bin");
  copy("scheduler.pt", "scheduler.bin");
  copy("rng_state.pth", "random_states_0.pkl");
  const CheckpointVerdict verdict = verified(disk, "/a/checkpoint-500");
  INFO(text_of(verdict));
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.framework == "accelerate");
  CHECK(verdict.resumable == Resumable::kYes);
  CHECK(verdict.step == 500);
  CHECK(verdict.problems.empty());
  CHECK(verdict.notes.empty());
  // What transformers' Trainer alone writes shows that it was the Trainer, also where its models are accelerate's.
  copy("rng_state.pth", "rng_state.pth");
  CHECK(verified(disk, "/a/checkpoint-500").state == State::kPartial);
}

std::string safetensors_of(const std::string& header, size_t bytes) {
  std::string out(8, '\0');
  for (size_t i = 0; i < 8; ++i) out[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return out + header + std::string(bytes, 'w');
}

TEST_CASE("a tensor may have an empty name, and a variant's index its own") {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  const auto state = [&](const std::string& path) {
    const CheckpointVerdict verdict = verified(disk, path, true);
    INFO(text_of(verdict));
    return verdict.state;
  };
  const std::string field = R"(:{"dtype":"F32","shape":[2],"data_offsets":[)";
  disk.put("/n/model.safetensors",
           safetensors_of(cat("{\"a\"", field, "0,8]},\"\"", field, "8,16]},\"shape\"", field, "16,24]}}"), 24));
  CHECK(state("/n") == State::kWhole);
  disk.put("/n/model.safetensors", safetensors_of(cat("{\"\"", field, "0,4]}}"), 4));
  CHECK(state("/n") == State::kCorrupt);  // fewer bytes than its shape asks for
  const auto shard = [&](int number) { return cat("model.fp16-0000", number, "-of-00002.safetensors"); };
  for (const int number : {1, 2})
    disk.put("/v/" + shard(number), safetensors_of(cat("{\"t", number, "\"", field, "0,8]}}"), 8));
  disk.put("/v/model.safetensors.index.fp16.json",
           cat(R"({"weight_map":{"t1":")", shard(1), R"(","t2":")", shard(2), R"("}})"));
  CHECK(state("/v") == State::kWhole);
  CHECK(verified(disk, "/v").layouts == std::vector<std::string>{"safetensors, sharded"});
  REQUIRE(disk.remove("/v/" + shard(2)).ok());
  CHECK(state("/v") == State::kPartial);
}

}  // namespace
}  // namespace mw
