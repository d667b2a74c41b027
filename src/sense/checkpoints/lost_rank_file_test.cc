#include "sense/checkpoints/lost_rank_file.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verdict_text_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

struct World {
  FakeDisk disk;
  World() { testing::put_samples(disk); }

  CheckpointVerdict look(const std::string& path, const std::string& beside) {
    VerifyOptions options;
    options.now = Time::from_seconds(4e9);
    options.beside = {beside};
    auto verdict = verify_checkpoint(disk, path, options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
};

bool reports(const CheckpointVerdict& verdict, const std::string& path, bool breaks) {
  return std::any_of(verdict.problems.begin(), verdict.problems.end(), [&](const CheckpointProblem& one) {
    return one.path == path && one.trouble == Trouble::kMissing && one.breaks == breaks;
  });
}

/// accelerate's LOCAL_STATE_DICT of two ranks, in the places of one whole model.
void save_by_rank(FakeDisk& disk, const std::string& path, int ranks) {
  const std::string weights = disk.content(cat(path, "/optimizer.pt")), rng = disk.content(cat(path, "/rng_state.pth"));
  disk.unlink(cat(path, "/model.safetensors"));
  disk.unlink(cat(path, "/rng_state.pth"));
  for (int rank = 0; rank < ranks; ++rank) {
    disk.put(cat(path, "/pytorch_model_fsdp_rank", rank, ".bin"), weights);
    disk.put(cat(path, "/rng_state_", rank, ".pth"), rng);
  }
}

TEST_CASE("a rank's weights that the step before has are missing where as many ranks saved") {
  const std::string now = "/ck/trl/checkpoint-20", before = "/ck/trl/checkpoint-10";
  for (const char* const lost : {"pytorch_model_fsdp_rank0.bin", "pytorch_model_fsdp_rank1.bin"}) {
    World world;
    save_by_rank(world.disk, before, 2);
    save_by_rank(world.disk, now, 2);
    const CheckpointVerdict whole = world.look(now, before);
    CHECK_FALSE(reports(whole, lost, true));
    world.disk.unlink(cat(now, "/", lost));
    const CheckpointVerdict verdict = world.look(now, before);
    INFO(text_of(verdict));
    CHECK(verdict.state == State::kPartial);
    CHECK(reports(verdict, lost, true));
    CHECK(world.look(before, now).state == whole.state);
    world.disk.make_folders(cat(now, "/", lost)).ok();  // a folder in its place
    CHECK(reports(world.look(now, before), lost, true));
  }
}

TEST_CASE("fewer ranks save fewer files: that is worth knowing") {
  const std::string now = "/ck/trl/checkpoint-20", before = "/ck/trl/checkpoint-10";
  World world;
  save_by_rank(world.disk, before, 4);
  save_by_rank(world.disk, now, 2);
  const CheckpointVerdict verdict = world.look(now, before);
  INFO(text_of(verdict));
  CHECK(reports(verdict, "pytorch_model_fsdp_rank3.bin", false));
  CHECK_FALSE(reports(verdict, "pytorch_model_fsdp_rank3.bin", true));
  CHECK(world.look(before, now).state == verdict.state);  // more than later
}

}  // namespace
}  // namespace mw
