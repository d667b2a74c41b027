// A tensor in a file of torch.save may be a view of its storage: every second number, a transposed matrix, a part of
// rows.
#include <doctest/doctest.h>

#include <cmath>

#include "base/text.h"
#include "platform/fake/fake_disk.h"
#include "sense/checkpoints/torch_save_for_test.h"
#include "sense/checkpoints/verdict_text_for_test.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

struct View {
  std::vector<int32_t> shape, strides;
  int32_t first = 0;
};

CheckpointVerdict verdict_on(const View& view, bool deep = false, size_t not_finite = 24) {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1'768'465'800));
  testing::TorchSave save;
  std::vector<float> numbers(24, 0.5F);
  if (not_finite < numbers.size()) numbers[not_finite] = NAN;
  const std::string tensor = save.view(numbers, view.first, view.shape, view.strides);
  disk.put("/m/pytorch_model.bin", save.archive(save.dict({{save.text("w.weight"), tensor}}), "pytorch_model"));
  disk.put("/m/config.json", "{}");
  VerifyOptions options;
  options.deep = deep;
  options.now = Time::from_seconds(4e9);
  const auto verdict = verify_checkpoint(disk, "/m", options);
  REQUIRE(verdict.ok());
  return *verdict;
}

TEST_CASE("a view that reaches beyond its storage is corrupt, whatever its strides") {
  const std::vector<View> within = {{{4, 6}, {6, 1}},    {{6, 4}, {1, 6}}, {{12}, {2}},       {{11}, {2}, 1},
                                    {{4, 3}, {6, 1}, 3}, {{1000}, {0}},    {{0, 9}, {99, 9}}, {{1, 24}, {999, 1}}};
  for (const View& view : within) {
    const CheckpointVerdict verdict = verdict_on(view);
    CAPTURE(text_of(verdict));
    CHECK(verdict.state == State::kWhole);
  }
  const std::vector<View> beyond = {
      {{4, 6}, {7, 1}},    {{6, 4}, {1, 7}}, {{13}, {2}},         {{12}, {2}, 2},
      {{4, 3}, {6, 1}, 4}, {{25}, {1}},      {{2}, {2147483647}}, {{2147483647, 2147483647}, {2147483647, 2147483647}}};
  for (const View& view : beyond) {
    const CheckpointVerdict verdict = verdict_on(view);
    CAPTURE(text_of(verdict));
    CHECK(verdict.state == State::kCorrupt);
    CHECK(contains(text_of(verdict), "tensor w.weight reaches beyond its storage"));
  }
}

TEST_CASE("all of the storage that a view takes numbers from is read for what is not finite") {
  for (const size_t place : {0U, 7U, 23U}) {
    for (const View& view : std::vector<View>{{{6, 4}, {1, 6}}, {{12}, {2}}, {{4, 6}, {6, 1}}}) {
      const CheckpointVerdict verdict = verdict_on(view, true, place);
      CAPTURE(text_of(verdict));
      CHECK(verdict.state == State::kSuspect);
      CHECK(contains(text_of(verdict), "w.weight"));
    }
  }
  CHECK(verdict_on({{6, 4}, {1, 6}}, true).state == State::kWhole);
}

}  // namespace
}  // namespace mw
