#include "sense/checkpoints/frozen.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "sense/checkpoints/samples_for_test.h"

namespace mw {
namespace {

struct Two {
  TensorsDiff diff;
  Two& tensor(std::string name, bool changed, double squares = 4, Dtype dtype = Dtype::kF32) {
    TensorDifference one;
    one.name = std::move(name);
    one.compared = true;
    one.dtype[0] = one.dtype[1] = dtype;
    one.figures[0].numbers = one.change.numbers = 100;
    one.figures[0].squares = squares;
    one.change.changed = changed ? 100 : 0;
    diff.tensors.push_back(std::move(one));
    return *this;
  }
  Two& weights(int count, bool changed = true) {
    for (int i = 0; i < count; ++i) tensor(cat("layers.", i, ".weight"), changed);
    return *this;
  }
  std::string notes() const {
    std::string out;
    for (const std::string& note : frozen_notes(diff)) out += cat(note, "\n");
    return out;
  }
};

TEST_CASE("an optimizer that stands still while weights are trained is noted, all of it or the part") {
  CHECK(contains(Two().weights(2).tensor("optim.pt:state.0.exp_avg", false).notes(),
                 "none of the 1 moments of the optimizer changed"));
  const std::string some =
      Two().weights(2).tensor("optim.pt:state.0.exp_avg", true).tensor("optim.pt:state.1.exp_avg_sq", false).notes();
  CHECK(contains(some, "1 of the 2 moments"));
  CHECK(contains(some, "first optim.pt:state.1.exp_avg_sq"));
  CHECK(contains(Two().weights(2).tensor("optim.state.w.step", false).notes(), "counts the same step"));
  CHECK(Two().weights(2).tensor("optim.state.w.step", false).tensor("optim.state.v.step", true).notes().empty());
  CHECK(Two().weights(2, false).tensor("optim.pt:state.0.exp_avg", false).notes().empty());  // the same save
  CHECK(Two().weights(2).tensor("optim.pt:state.0.exp_avg", false, 0).notes().empty());      // it has not begun
  CHECK(Two().weights(2).tensor("optim.pt:state.0.exp_avg", true).notes().empty());
}

TEST_CASE("weights that stand still while the optimizer goes on are noted") {
  CHECK(
      contains(Two().weights(3, false).tensor("optim.pt:state.0.exp_avg", true).notes(), "no weight changed, though"));
  CHECK(Two().weights(3, false).notes().empty());
  CHECK(Two().tensor("optim.pt:state.0.exp_avg", true).notes().empty());
}

TEST_CASE("one weight of many that stands still is noted; of few, or several, it is the trainer's way") {
  CHECK(contains(Two().weights(9).tensor("embed.weight", false).notes(),
                 "embed.weight did not change, though all other 9"));
  CHECK(Two().weights(3).tensor("embed.weight", false).notes().empty());
  CHECK(Two().weights(9).tensor("embed.weight", false).tensor("head.weight", false).notes().empty());
  CHECK(Two().weights(9).tensor("lora_B.weight", false, 0).notes().empty());
  CHECK(Two().weights(9).tensor("ids", false, 4, Dtype::kOther).notes().empty());
}

TEST_CASE("between two real saves nothing stands still; with the optimizer of the save before it does") {
  FakeDisk disk;
  testing::put_samples(disk);
  for (const testing::Sample& sample : testing::samples()) {
    CAPTURE(std::string(sample.layout));
    if (*sample.before == '\0' || std::string_view(sample.layout) == "Megatron, zarr") continue;
    const auto diff = diff_tensors(disk, cat("/ck/", sample.before), cat("/ck/", sample.path), nullptr);
    REQUIRE(diff.ok());
    for (const std::string& note : diff->notes) CHECK_MESSAGE(false, note);
  }
  for (const char* rank : {"0", "1"}) {
    const std::string file = cat("/actor/optim_world_size_2_rank_", rank, ".pt");
    disk.put("/ck/verl/global_step_20" + file, disk.content("/ck/verl/global_step_10" + file));
  }
  const auto diff = diff_tensors(disk, "/ck/verl/global_step_10", "/ck/verl/global_step_20", nullptr);
  REQUIRE(diff.ok());
  REQUIRE_FALSE(diff->notes.empty());
  CHECK(contains(diff->notes.front(), "moments of the optimizer"));
}

TEST_CASE("weights in a file of Megatron's rank are no optimizer") {
  const std::string rank = "mp_rank_01/model_optim_rng.pt:";
  CHECK(part_of(cat(rank, "model.layers.0.weight"), Dtype::kF32) == TensorPart::kWeight);
  CHECK(part_of(cat(rank, "optimizer.state.0.exp_avg"), Dtype::kF32) == TensorPart::kMoment);
  CHECK(part_of(cat(rank, "optimizer.fp32_param"), Dtype::kF32) == TensorPart::kOther);
}

}  // namespace
}  // namespace mw
