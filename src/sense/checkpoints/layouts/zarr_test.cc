// Megatron's zarr: a folder for each tensor, and nothing lists them.
#include <doctest/doctest.h>

#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

struct Run {
  FakeDisk disk;
  Run() { testing::put_samples(disk); }

  static std::string folder(int step) { return cat("/ck/megatron-zarr/iter_00000", step); }
  void copy(int from, int to) {
    for (const std::string& path : disk.paths()) {
      if (path.starts_with(folder(from) + "/"))
        disk.put(folder(to) + path.substr(folder(from).size()), disk.content(path));
    }
  }
  void remove(int step, const std::string& tensor) {
    for (const std::string& path : disk.paths()) {
      if (path.starts_with(cat(folder(step), "/", tensor, "/"))) disk.unlink(path);
    }
  }
  void add(int step, const std::string& tensor, const std::string& like = "model.layers.0.q.weight") {
    const std::string from = cat(folder(20), "/", like, "/");
    for (const std::string& path : disk.paths()) {
      if (path.starts_with(from))
        disk.put(cat(folder(step), "/", tensor, "/", path.substr(from.size())), disk.content(path));
    }
  }
  CheckpointVerdict look(int step, const std::vector<int>& beside) {
    VerifyOptions options;
    options.now = Time::from_seconds(1768500000);
    for (const int other : beside) options.beside.push_back(folder(other));
    auto verdict = verify_checkpoint(disk, folder(step), options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
};

TEST_CASE("chunks without their .zarray are partial, whichever tensor it is") {
  for (const char* tensor : {"lm_head.weight", "model.embed.weight", "model.layers.0.q.weight"}) {
    CAPTURE(std::string(tensor));
    Run run;
    run.disk.unlink(cat(Run::folder(20), "/", tensor, "/.zarray"));
    for (const std::vector<int>& beside : {std::vector<int>(), {10}}) {
      const CheckpointVerdict verdict = run.look(20, beside);
      CHECK(verdict.state == State::kPartial);
      REQUIRE(verdict.problems.size() == 1);
      CHECK(verdict.problems[0].path == cat(tensor, "/.zarray"));
    }
  }
  Run run;  // of every tensor: metadata.json says what they are of
  for (const char* tensor : {"lm_head.weight", "model.embed.weight", "model.layers.0.q.weight"})
    run.disk.unlink(cat(Run::folder(20), "/", tensor, "/.zarray"));
  CHECK(run.look(20, {}).state == State::kPartial);
}

TEST_CASE("a tensor of zarr that the checkpoint before has is missing") {
  for (const char* tensor : {"lm_head.weight", "model.embed.weight", "model.layers.0.q.weight"}) {
    CAPTURE(std::string(tensor));
    Run run;
    run.remove(20, tensor);
    const CheckpointVerdict verdict = run.look(20, {10});
    CHECK(verdict.state == State::kPartial);
    REQUIRE(verdict.problems.size() == 1);
    CHECK(verdict.problems[0].path == tensor);
    CHECK(verdict.problems[0].what == "it is missing, and iter_0000010 has this tensor");
    CHECK(run.look(10, {20}).problems.empty());  // it is not that one which lacks something
    CHECK(run.look(20, {}).state == State::kWhole);
    run.copy(10, 30);
    CHECK(run.look(20, {10, 30}).state == State::kPartial);
    for (const CheckpointProblem& one : run.look(30, {20, 10}).problems)
      CHECK(one.trouble == Trouble::kMixed);  // its common.pt
  }
}

TEST_CASE("another model in the same folder lacks no tensor of zarr") {
  Run run;
  run.remove(20, "lm_head.weight");
  run.copy(20, 30);
  CHECK(run.look(20, {30, 10}).state == State::kWhole);  // the one after has not got it, either
  run.add(20, "model.head.weight");                      // another one came
  CHECK(run.look(20, {10}).state == State::kWhole);
  REQUIRE(run.look(20, {10}).problems.size() == 1);
  CHECK_FALSE(run.look(20, {10}).problems[0].breaks);
  Run merged;
  merged.add(10, "model.lora_A.weight");
  CHECK(merged.look(20, {10}).state == State::kWhole);
  CHECK(merged.look(10, {20}).problems.empty());
  Run without;  // --no-save-optim
  without.add(10, "optimizer.state.exp_avg.lm_head.weight");
  without.copy(10, 30);
  CHECK(without.look(20, {10, 30}).state == State::kWhole);
  without.add(20, "optimizer.state.exp_avg.model.embed.weight");
  without.add(10, "optimizer.state.exp_avg.model.embed.weight");
  without.add(30, "optimizer.state.exp_avg.model.embed.weight");
  CHECK(without.look(20, {10, 30}).state == State::kPartial);  // a part of the optimizer is there
}

TEST_CASE("of the first checkpoint the optimizer says which tensor of zarr is missing") {
  Run run;
  run.remove(10, "lm_head.weight");
  CHECK(run.look(10, {20}).state == State::kWhole);  // it may have come later
  run.add(10, "optimizer.state.exp_avg.lm_head.weight");
  CHECK(run.look(10, {20}).state == State::kPartial);
}

TEST_CASE("a tensor of zarr of another shape than before and after is suspect") {
  Run run;
  run.copy(10, 30);
  run.remove(20, "model.embed.weight");
  run.add(20, "model.embed.weight");  // [8, 8] in the place of [16, 8]
  CHECK(run.look(20, {10, 30}).state == State::kSuspect);
  CHECK(run.look(20, {10}).state == State::kWhole);
  CHECK(run.look(20, {10}).problems.size() == 1);
}

}  // namespace
}  // namespace mw
