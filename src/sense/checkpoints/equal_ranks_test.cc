#include "sense/checkpoints/equal_ranks.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

struct Samples {
  FakeDisk disk;
  Samples() { testing::put_samples(disk); }
  std::string of(const std::string& path) const { return disk.content(cat("/ck/", path)); }
  void copy(const std::string& from, const std::string& to) {
    REQUIRE_FALSE(of(from).empty());
    disk.put(cat("/ck/", to), of(from));
  }
  void exchange(const std::string& one, const std::string& other) {
    const std::string kept = of(other);
    copy(one, other);
    disk.put(cat("/ck/", one), kept);
  }
  CheckpointVerdict verified(const std::string& path, bool deep = false) {
    VerifyOptions options;
    options.deep = deep;
    options.now = Time::from_seconds(1768500000);
    auto verdict = verify_checkpoint(disk, cat("/ck/", path), options);
    REQUIRE(verdict.ok());
    return std::move(*verdict);
  }
};

struct Pair {
  const char *checkpoint, *one, *other;
};
constexpr Pair kPairs[] = {
    {"verl/global_step_20", "actor/model_world_size_2_rank_0.pt", "actor/model_world_size_2_rank_1.pt"},
    {"verl/global_step_20", "actor/optim_world_size_2_rank_0.pt", "actor/optim_world_size_2_rank_1.pt"},
    {"skyrl/global_step_20", "policy/model_world_size_2_rank_0.pt", "policy/model_world_size_2_rank_1.pt"},
    {"deepspeed-zero1/global_step20", "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt",
     "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"},
    {"deepspeed-zero3/global_step20", "zero_pp_rank_0_mp_rank_00_optim_states.pt",
     "zero_pp_rank_1_mp_rank_00_optim_states.pt"},
    {"openrlhf/_actor/global_step20", "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt",
     "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"}};

TEST_CASE("a rank's file in the place of another rank's is suspect, copied or exchanged") {
  for (const Pair& pair : kPairs) {
    CAPTURE(pair.one);
    const std::string one = cat(pair.checkpoint, "/", pair.one), other = cat(pair.checkpoint, "/", pair.other);
    for (const bool copied : {true, false}) {
      Samples on;
      CHECK(on.verified(pair.checkpoint, true).state == State::kWhole);
      copied ? on.copy(one, other) : on.exchange(one, other);
      const CheckpointVerdict verdict = on.verified(pair.checkpoint);
      CHECK(verdict.state == State::kSuspect);
      REQUIRE_FALSE(verdict.problems.empty());
      CHECK(contains(verdict.problems[0].what, "it is another rank's file"));
    }
  }
}

TEST_CASE("what all ranks may have alike is worth knowing only") {
  Samples on;
  on.copy("verl/global_step_20/actor/extra_state_world_size_2_rank_0.pt",
          "verl/global_step_20/actor/extra_state_world_size_2_rank_1.pt");
  const CheckpointVerdict verdict = on.verified("verl/global_step_20", true);
  CHECK(verdict.state == State::kWhole);
  REQUIRE_FALSE(verdict.problems.empty());
  CHECK(contains(verdict.problems[0].what, "it was saved as extra_state_world_size_2_rank_0"));
}

TEST_CASE("two of Megatron's tensor ranks with the same bytes are suspect, once all are read") {
  Samples on;
  CHECK(on.verified("megatron-legacy/iter_0000020", true).state == State::kWhole);
  on.copy("megatron-legacy/iter_0000020/mp_rank_00/model_optim_rng.pt",
          "megatron-legacy/iter_0000020/mp_rank_01/model_optim_rng.pt");
  const CheckpointVerdict verdict = on.verified("megatron-legacy/iter_0000020", true);
  CHECK(verdict.state == State::kSuspect);
  REQUIRE_FALSE(verdict.problems.empty());
  CHECK(contains(verdict.problems[0].what, "every byte of it is that of mp_rank_00/model_optim_rng.pt"));
}

/// Of such a checkpoint, ranks' files that have these letters as bytes.
size_t equal_of(const std::string& content) {
  FakeDisk disk;
  std::vector<ManifestFile> hashed;
  for (size_t rank = 0; rank < content.size(); ++rank) {
    ManifestFile file;
    file.path = cat("model_world_size_", content.size(), "_rank_", rank, ".pt");
    file.xxh3 = static_cast<unsigned char>(content[rank]);
    file.norm = content[rank] == '0' ? 0 : 1;
    file.numbers = 100;
    disk.put(cat("/ck/step_10/", file.path), std::string(1, content[rank]));
    hashed.push_back(file);
  }
  const auto tree = CheckpointTree::read(disk, "/ck/step_10");
  REQUIRE(tree.ok());
  Examination exam(disk, *tree);
  look_for_equal_ranks(exam, hashed);
  return exam.problems().size();
}

TEST_CASE("parts that are kept several times on purpose, or are empty, are none") {
  CHECK(equal_of("abcd") == 0);
  CHECK(equal_of("abab") == 0);
  CHECK(equal_of("aaaa") == 0);
  CHECK(equal_of("a000") == 0);
  CHECK(equal_of("aacd") == 1);
  CHECK(equal_of("abcb") == 1);
}

}  // namespace
}  // namespace mw
