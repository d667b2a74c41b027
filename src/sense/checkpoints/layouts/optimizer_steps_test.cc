// A rank's optimizer of another step has the size, the names and the shapes of its own: its own counter shows it,
// without any other checkpoint, whatever the times of the files.
#include <doctest/doctest.h>

#include <cstring>

#include "base/checksum.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

CheckpointVerdict verified(FakeDisk& disk, const std::string& path, bool deep = false,
                           std::vector<std::string> beside = {}) {
  VerifyOptions options;
  options.deep = deep;
  options.now = Time::from_seconds(1768500000);
  options.beside = std::move(beside);
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

struct Swap {
  const char *checkpoint, *other, *folder, *one, *two;
};
constexpr Swap kRanks[] = {
    {"verl/global_step_20", "verl/global_step_10", "actor", "optim_world_size_2_rank_0.pt",
     "optim_world_size_2_rank_1.pt"},
    {"skyrl/global_step_20", "skyrl/global_step_10", "policy", "optim_world_size_2_rank_0.pt",
     "optim_world_size_2_rank_1.pt"},
    {"deepspeed-zero1/global_step20", "deepspeed-zero1/global_step10", "",
     "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt", "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"},
    {"openrlhf/_actor/global_step20", "openrlhf/_actor/global_step10", "",
     "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt", "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"},
    {"deepspeed-zero3/global_step20", "deepspeed-zero3/global_step10", "", "zero_pp_rank_0_mp_rank_00_optim_states.pt",
     "zero_pp_rank_1_mp_rank_00_optim_states.pt"},
};

TEST_CASE("a rank's optimizer of another step is found by its own counter, be it a tensor, a number, or a group's") {
  FakeDisk disk;
  testing::put_samples(disk);  // all of one time
  for (const Swap& swap : kRanks) {
    const std::string path = cat("/ck/", swap.checkpoint), before = cat("/ck/", swap.other);
    const CheckpointVerdict good = verified(disk, path);
    CHECK(good.problems.empty());
    CHECK(good.counted.files == 2);
    CHECK(good.counted.steps == 20);
    for (const char* const name : {swap.one, swap.two}) {
      const std::string below = *swap.folder == '\0' ? name : cat(swap.folder, "/", name), file = cat(path, "/", below);
      CAPTURE(file);
      const std::string own = disk.content(file);
      disk.put(file, disk.content(cat(before, "/", below)));
      const CheckpointVerdict mixed = verified(disk, path);
      CHECK(mixed.state == State::kCorrupt);
      CHECK(mixed.counted.files == 0);
      REQUIRE(mixed.problems.size() == 1);
      CHECK(mixed.problems[0].trouble == Trouble::kMixed);
      CHECK(mixed.problems[0].path == below);
      CHECK(contains(mixed.problems[0].what, "its optimizer's step is 10, and 20 in "));
      disk.put(file, own);
    }
  }
}

template <typename Number>
std::string bytes_of(Number value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

/// The one number of a tensor "step" in what torch.save wrote becomes another, and its checksum that of the other.
void count(FakeDisk& disk, const std::string& path, float now, float then) {
  std::string text = disk.content(path);
  const std::string from = bytes_of(now), to = bytes_of(then);
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(from, at + 1) == std::string::npos);
  text.replace(at, 4, to);
  const std::string sum = bytes_of(crc32_ieee(from)), other = bytes_of(crc32_ieee(to));
  for (size_t place = text.find(sum); place != std::string::npos; place = text.find(sum, place + 4))
    text.replace(place, 4, other);
  disk.put(path, text);
}

TEST_CASE("a number that is no count, and an optimizer without a counter, say nothing") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string path = "/ck/verl/global_step_20", file = path + "/actor/optim_world_size_2_rank_1.pt";
  for (const float odd : {19.5F, -1.0F, std::numeric_limits<float>::quiet_NaN(), 1e30F}) {
    const std::string own = disk.content(file);
    count(disk, file, 20, odd);
    const CheckpointVerdict verdict = verified(disk, path);
    CHECK(verdict.state == State::kWhole);
    CHECK(verdict.counted.files == 0);
    disk.put(file, own);
  }
  count(disk, file, 20, 19);
  CHECK(verified(disk, path).state == State::kCorrupt);
}

constexpr const char* kStages = "/ck/prime-rl-stages/checkpoints/step_20";
constexpr const char* kStagesBefore = "/ck/prime-rl-stages/checkpoints/step_10";

TEST_CASE(
    "of torch.distributed.checkpoint another count is suspect where the checkpoint beside it shows that it moved") {
  FakeDisk disk;
  testing::put_samples(disk);
  CHECK(verified(disk, kStages, true).counted.files == 2);
  CHECK(verified(disk, kStages, true).problems.empty());
  const std::string file = cat(kStages, "/trainer/__1_0.distcp");
  count(disk, file, 20, 13);  // of a save that is gone: nothing lies beside it that has its bytes
  const CheckpointVerdict alone = verified(disk, kStages, true);
  CHECK(alone.state == State::kWhole);  // a stage that was frozen for 7 steps looks like this
  REQUIRE(alone.problems.size() == 1);
  CHECK(alone.problems[0].trouble == Trouble::kOtherCount);
  CHECK_FALSE(alone.problems[0].breaks);
  const CheckpointVerdict mixed = verified(disk, kStages, true, {kStagesBefore});
  CHECK(mixed.state == State::kSuspect);
  REQUIRE(mixed.problems.size() == 1);
  CHECK(mixed.problems[0].what ==
        "its optimizer's step is 13, and 20 in trainer/__0_0.distcp; in step_10 they are not so far apart");
  // The stage was frozen for seven steps: it is behind by as many in the one before.
  count(disk, cat(kStagesBefore, "/trainer/__1_0.distcp"), 10, 3);
  CHECK(verified(disk, kStages, true, {kStagesBefore}).state == State::kWhole);
  CHECK(verified(disk, kStages, true, {kStagesBefore}).problems.empty());
}

TEST_CASE("a rank that had nothing to save leaves an empty file, and that says nothing") {
  FakeDisk disk;
  testing::put_samples(disk);
  disk.put(cat(kStages, "/trainer/__2_0.distcp"), "");
  CHECK(verified(disk, kStages, true).problems.empty());
}

TEST_CASE("a counter is named step and lies in an optimizer's state or group") {
  for (const char* path : {"state.0.step", "state.model.layers.0.q.weight.step", "param_groups.1.step",
                           "optimizer_state_dict.base_optimizer_state.0.step", "app.optimizers.state.w.step"})
    CHECK(is_step_counter(path));
  for (const char* path : {"step", "progress.step", "app_state.progress.step", "state.step_size", "state.0.step.0"})
    CHECK_FALSE(is_step_counter(path));
}

TEST_CASE("of one slot that is written over, another count is suspect where a file has a time of its own") {
  FakeDisk disk;
  testing::put_samples(disk);
  disk.set_time(Time::from_seconds(1768469400));
  const std::string file = cat(kStages, "/trainer/__0_0.distcp");
  disk.put(file, disk.content(file));
  CHECK(verified(disk, kStages, true).state == State::kWhole);  // written again, with the same count
  count(disk, file, 20, 30);                                    // the next save came as far as this file
  const CheckpointVerdict verdict = verified(disk, kStages, true);
  CHECK(verdict.state == State::kSuspect);
  CHECK(contains(verdict.problems.front().what, "one of the two was written apart from all others here"));
}

}  // namespace
}  // namespace mw
