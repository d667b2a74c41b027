// What an earlier save by another number of ranks left in the same folder.
#include <doctest/doctest.h>

#include <algorithm>

#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/verdict_text_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

constexpr double kSaved = 1768465800;  // when the samples were, as put_samples() dates them

/// Files of a whole sample, and the names that four ranks gave to theirs.
struct Layout {
  const char* folder;
  std::vector<std::pair<const char*, std::vector<const char*>>> left_over;
  const char* own;  ///< one that the latest save cannot do without
};

const std::vector<Layout>& layouts_of_ranks() {
  static const std::vector<Layout> kAll = {
      {"/ck/verl/global_step_20",
       {{"actor/model_world_size_2_rank_0.pt",
         {"actor/model_world_size_4_rank_0.pt", "actor/model_world_size_4_rank_3.pt"}},
        {"actor/optim_world_size_2_rank_0.pt", {"actor/optim_world_size_4_rank_2.pt"}}},
       "actor/model_world_size_2_rank_1.pt"},
      {"/ck/skyrl/global_step_20",
       {{"policy/model_world_size_2_rank_0.pt",
         {"policy/model_world_size_1_rank_0.pt", "policy/model_world_size_8_rank_7.pt"}}},
       "policy/optim_world_size_2_rank_0.pt"},
      {"/ck/deepspeed-zero3/global_step20",
       {{"zero_pp_rank_1_mp_rank_00_model_states.pt", {"zero_pp_rank_3_mp_rank_00_model_states.pt"}},
        {"zero_pp_rank_1_mp_rank_00_optim_states.pt", {"zero_pp_rank_3_mp_rank_00_optim_states.pt"}}},
       "zero_pp_rank_1_mp_rank_00_optim_states.pt"},
      {"/ck/openrlhf/_actor/global_step20",
       {{"bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt", {"bf16_zero_pp_rank_5_mp_rank_00_optim_states.pt"}}},
       "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"},
      {"/ck/megatron-legacy/iter_0000020",
       {{"mp_rank_01/model_optim_rng.pt", {"mp_rank_03/model_optim_rng.pt", "mp_rank_00_001/model_optim_rng.pt"}}},
       "mp_rank_01/model_optim_rng.pt"},
  };
  return kAll;
}

/// The sample, with what is left of a save that far before its own: half of each file, as of a save that was cut.
struct World {
  FakeDisk disk;
  const Layout& layout;

  World(const Layout& of, double before) : layout(of) {
    testing::put_samples(disk);
    disk.set_time(Time::from_seconds(kSaved - before));
    for (const auto& [from, names] : of.left_over) {
      const std::string content = disk.content(cat(of.folder, "/", from));
      for (const char* const name : names) disk.put(cat(of.folder, "/", name), content.substr(0, content.size() / 2));
    }
  }
  bool is_said(const CheckpointVerdict& verdict) const {
    return std::any_of(verdict.notes.begin(), verdict.notes.end(), [](const std::string& note) {
      return contains(note, "of an earlier save by another number of ranks");
    });
  }
};

TEST_CASE("what an earlier save by other ranks left breaks no later one, and is said") {
  for (const Layout& layout : layouts_of_ranks()) {
    World world(layout, 86400);
    const CheckpointVerdict verdict = testing::verified(world.disk, layout.folder);
    INFO(layout.folder, ": ", text_of(verdict));
    CHECK(verdict.state == State::kWhole);
    CHECK(verdict.resumable == CheckpointVerdict::Resumable::kYes);
    CHECK(verdict.problems.empty());
    CHECK(world.is_said(verdict));
  }
}

TEST_CASE("beside what is left of other ranks the latest save needs all of its own") {
  for (const Layout& layout : layouts_of_ranks()) {
    const std::string own = cat(layout.folder, "/", layout.own);
    for (const bool gone : {true, false}) {
      World world(layout, 86400);
      FakeDisk& disk = world.disk;
      const std::string content = disk.content(own);
      disk.set_time(Time::from_seconds(kSaved));
      if (gone) disk.unlink(own);
      if (!gone) disk.put(own, content.substr(0, content.size() / 2));
      const CheckpointVerdict verdict = testing::verified(disk, layout.folder);
      INFO(layout.folder, gone ? " without " : " with half of ", layout.own, ": ", text_of(verdict));
      CHECK(verdict.state != State::kWhole);
    }
  }
}

TEST_CASE("files of other ranks that are of the same time, or later, or of a save that took long, count") {
  for (const Layout& layout : layouts_of_ranks()) {
    const bool fsdp = contains(layout.folder, "verl") || contains(layout.folder, "skyrl");
    for (const double before : {0.0, -3600.0, 20.0}) {
      World world(layout, before);
      const CheckpointVerdict verdict = testing::verified(world.disk, layout.folder);
      INFO(layout.folder, " ", before, ": ", text_of(verdict));
      // The settings beside FSDP's say which save is done, where times are lost.
      CHECK((verdict.state == State::kWhole) == (fsdp && before >= 0));
      if (fsdp) world.disk.unlink(cat(folder_of(cat(layout.folder, "/", layout.own)), "/fsdp_config.json"));
      if (fsdp) CHECK(testing::verified(world.disk, layout.folder).state != State::kWhole);
    }
  }
}

TEST_CASE("where the settings say the world size of what was left, the latest save did not come to its end") {
  const Layout& verl = layouts_of_ranks().front();
  World world(verl, 86400);
  world.disk.put(cat(verl.folder, "/actor/fsdp_config.json"), R"({"FSDP_version": 2, "world_size": 4})");
  const CheckpointVerdict verdict = testing::verified(world.disk, verl.folder);
  INFO(text_of(verdict));
  CHECK(verdict.state == State::kCorrupt);
}

}  // namespace
}  // namespace mw
