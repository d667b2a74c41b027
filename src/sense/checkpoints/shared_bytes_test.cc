#include "sense/checkpoints/shared_bytes.h"

#include <doctest/doctest.h>

#include "base/prng.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

constexpr int64_t kFirstSave = 1768465800;

/// Weights of one tensor, of its own for each `seed`.
std::string weights(uint64_t seed, size_t bytes = 100'000) {
  Prng random(seed);
  std::string numbers(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) numbers[i] = static_cast<char>(i % 2 == 1 ? random.below(64) : random.below(256));
  const std::string header =
      cat(R"({"w)", "\":{\"dtype\":\"BF16\",\"shape\":[", bytes / 2, "],\"data_offsets\":[0,", bytes, "]}}");
  std::string out;
  for (size_t i = 0; i < 8; ++i) out += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return out + header + numbers;
}

/// Checkpoints of step 10, 20, …, saved half an hour one after the other.
struct Saves {
  FakeDisk disk;

  static std::string folder(int step) { return cat("/ck/checkpoint-", step); }
  static Time saved(int step) { return Time::from_seconds(kFirstSave + 180 * step); }
  void put(int step, const std::string& name, const std::string& content, double after = 0) {
    disk.set_time(saved(step) + Duration::seconds(after));
    if (disk.exists(cat(folder(step), "/", name))) disk.unlink(cat(folder(step), "/", name));
    disk.put(cat(folder(step), "/", name), content);
  }
  /// Three shards, the second of which is `second`, and what a trainer needs.
  void save(int step, uint64_t second) {
    const auto own = static_cast<uint64_t>(step);
    put(step, "layers_1.safetensors", weights(own));
    put(step, "layers_2.safetensors", weights(second));
    put(step, "layers_3.safetensors", weights(own + 1));
    put(step, "config.json", "{}");
    put(step, "tokenizer.json", "{\"v\":1}");
  }
  CheckpointVerdict verdict(int step, const std::vector<int>& beside, bool deep = false) {
    VerifyOptions options;
    options.now = saved(1000);
    options.deep = deep;
    for (const int other : beside) options.beside.push_back(folder(other));
    return *verify_checkpoint(disk, folder(step), options);
  }
};
const std::string kShard = "layers_2.safetensors";

TEST_CASE(
    "a shard that was copied from the checkpoint beside it, with a new time, is found, and the other one is sound") {
  Saves run;
  for (const int step : {10, 20, 30}) run.save(step, static_cast<uint64_t>(step) + 100);
  CHECK(run.verdict(20, {10, 30}).state == State::kWhole);
  CHECK(run.verdict(20, {10, 30}).beside.size() == 2);
  for (const int donor : {10, 30}) {
    run.put(20, kShard, run.disk.content(cat(Saves::folder(donor), "/", kShard)), 7200);
    for (const bool deep : {false, true}) {
      const CheckpointVerdict mixed = run.verdict(20, {10, 30}, deep);
      CHECK(mixed.state == State::kSuspect);
      REQUIRE(mixed.problems.size() == 1);
      CHECK(mixed.problems[0].trouble == Trouble::kSameBytes);
      CHECK(mixed.problems[0].path == kShard);
      CHECK(contains(mixed.problems[0].what, cat("checkpoint-", donor)));
    }
    CHECK(run.verdict(donor, {20}).state == State::kWhole);
    CHECK(run.verdict(donor, {20}).problems.empty());
  }
  CHECK(run.verdict(20, {30}).state == State::kSuspect);  // two are enough, with the times
}

TEST_CASE("frozen weights, and weights that no step changed, are no copies") {
  Saves run;
  for (const int step : {10, 20, 30}) run.save(step, 7);
  for (const int step : {10, 20, 30}) {  // in all of them, whenever they were written
    CHECK(run.verdict(step, {10, 20, 30}).problems.empty());
    run.put(step, kShard, weights(7), step == 20 ? 7200 : 0);
  }
  CHECK(run.verdict(20, {10, 30}).state == State::kWhole);
  run.save(20, 7);
  run.save(30, 8);  // frozen until step 20: their own saves wrote them
  CHECK(run.verdict(20, {10, 30}).problems.empty());
  CHECK(run.verdict(10, {20, 30}).problems.empty());
  CHECK(run.verdict(20, {10}).problems.empty());
}

TEST_CASE(
    "of checkpoints of one file each, one that is younger than a later step's and has an earlier one's bytes is "
    "found") {
  Saves run;
  for (const int step : {10, 20, 30}) run.put(step, "model.safetensors", weights(static_cast<uint64_t>(step)));
  run.put(20, "model.safetensors", weights(10), 1200);  // between the saves: nothing shows that it is no save
  CHECK(run.verdict(20, {10, 30}).state == State::kWhole);
  run.put(20, "model.safetensors", weights(10), 7200);
  CHECK(run.verdict(20, {10, 30}).state == State::kSuspect);
  CHECK(run.verdict(10, {20, 30}).state == State::kWhole);
  CHECK(run.verdict(30, {20, 10}).problems.empty());
  run.put(20, "model.safetensors", weights(21), 7200);  // it was saved again after a rollback
  CHECK(run.verdict(20, {10, 30}).problems.empty());
}

TEST_CASE("where the times of two saves are lost, an equal shard is worth knowing and no more") {
  Saves run;
  for (const int step : {10, 20, 30}) {
    run.save(step, step == 30 ? 8 : 7);
    for (const char* name :
         {"layers_1.safetensors", "layers_2.safetensors", "layers_3.safetensors", "config.json", "tokenizer.json"})
      run.put(step, name, run.disk.content(cat(Saves::folder(step), "/", name)), 180.0 * (100 - step));
  }
  const CheckpointVerdict seen = run.verdict(20, {10, 30});
  CHECK(seen.state == State::kWhole);
  REQUIRE(seen.problems.size() == 1);
  CHECK_FALSE(seen.problems[0].breaks);
  CHECK(run.verdict(20, {10}).problems.empty());  // frozen for all that is known
}

TEST_CASE("a shard with the bytes of another step and the time of its own save is found by those around it") {
  Saves run;
  for (const int step : {10, 20, 30, 40}) run.save(step, static_cast<uint64_t>(step) + 100);
  const auto found = [&run](int step, const std::vector<int>& beside) {
    const CheckpointVerdict verdict = run.verdict(step, beside);
    const bool of_shard = verdict.problems.size() == 1 && verdict.problems[0].path == kShard;
    return verdict.state == State::kSuspect && of_shard;
  };
  CHECK_FALSE(found(30, {20, 40, 10}));
  run.put(30, kShard, weights(120));  // changed before and after, and not between the two, in which all others changed
  CHECK(found(30, {20, 40, 10}));
  CHECK(found(20, {10, 30, 40}));
  CHECK(run.verdict(30, {20, 40}).problems.empty());  // frozen up to there
  CHECK(run.verdict(30, {20, 10}).problems.empty());  // and from there on
  CHECK(run.verdict(40, {30, 20}).problems.empty());
  run.put(30, "layers_1.safetensors", weights(20));  // a method that trains some layers at a time
  CHECK(run.verdict(30, {20, 40, 10}).state == State::kWhole);
  run.save(30, 110);  // as it was at step 10, and not at 20: no training does that
  CHECK(found(30, {20, 40, 10}));
  CHECK(found(10, {20, 30}));
  CHECK(run.verdict(20, {10, 30, 40}).problems.empty());
}

TEST_CASE("few numbers that differ between the samples are enough to be no copy") {
  Saves run;
  run.save(10, 7);
  run.save(20, 7);
  std::string changed = weights(7, 400'000);
  run.put(10, kShard, changed);
  changed[changed.size() / 3] ^= 1;
  run.put(20, kShard, changed, 7200);
  CHECK(run.verdict(20, {10}).state == State::kWhole);
  CHECK(run.verdict(20, {10}).problems.size() <= 1);  // that it was written late
}

TEST_CASE("a rank whose optimizer moved has other weights, too, and a rank's optimizer moves with the others") {
  FakeDisk disk;
  testing::put_samples(disk);  // all of one time
  const std::string folder = "/ck/verl/global_step_20/actor/", other = "/ck/verl/global_step_10/actor/";
  VerifyOptions options;
  options.now = Time::from_seconds(1768500000);
  options.beside = {"/ck/verl/global_step_10"};
  const auto look = [&] { return *verify_checkpoint(disk, "/ck/verl/global_step_20", options); };
  CHECK(look().problems.empty());
  for (const char* name : {"model_world_size_2_rank_1.pt", "optim_world_size_2_rank_0.pt"}) {
    const std::string own = disk.content(folder + name);
    disk.put(folder + name, disk.content(other + name));
    const bool counts = std::string_view(name).starts_with("optim");  // an optimizer's own counter says it better
    CHECK(look().state == (counts ? State::kCorrupt : State::kSuspect));
    CHECK(contains(look().problems[0].what, counts ? "its optimizer's step is 10" : "one of the two"));
    CHECK(look().problems.size() == 1);
    disk.put(folder + name, own);
  }
  for (const char* name : {"model_world_size_2_rank_0.pt", "model_world_size_2_rank_1.pt"}) {
    disk.put(folder + name, disk.content(other + name));  // a learning rate of 0 changes no weights
  }
  CHECK(look().state == State::kWhole);
  for (const char* name : {"optim_world_size_2_rank_0.pt", "optim_world_size_2_rank_1.pt"}) {
    disk.put(folder + name, disk.content(other + name));  // nothing was trained between the two
  }
  CHECK(look().state == State::kWhole);
}

TEST_CASE("a checkpoint that is the one beside it in all that training changes is worth knowing") {
  Saves run;
  run.save(10, 110);
  run.save(20, 120);
  for (const char* name : {"layers_1.safetensors", "layers_2.safetensors", "layers_3.safetensors"})
    run.put(20, name, run.disk.content(cat(Saves::folder(10), "/", name)));
  const CheckpointVerdict same = run.verdict(20, {10});
  CHECK(same.state == State::kWhole);
  REQUIRE(same.problems.size() == 1);
  CHECK_FALSE(same.problems[0].breaks);
  CHECK(contains(same.problems[0].what, "that of checkpoint-10: nothing was learned between the two"));
  run.save(30, 130);
  CHECK(run.verdict(30, {20, 10}).problems.empty());
  run.put(20, "layers_3.safetensors", weights(77));  // something was
  CHECK(run.verdict(20, {10}).problems.empty());
}

}  // namespace
}  // namespace mw
