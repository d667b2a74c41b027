#include "sense/checkpoints/role_weights.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/torch_save_for_test.h"
#include "sense/checkpoints/verdict_text_for_test.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;

/// A sample whose one role's files lie in a second role's folder, too.
struct TwoRoles {
  FakeDisk disk;
  std::string path, role;
  TwoRoles(std::string_view sample, std::string_view first, std::string_view second)
      : path(cat("/ck/", sample)), role(cat(path, "/", first)) {
    testing::put_samples(disk);
    for (const std::string& file : disk.paths()) {
      if (file.starts_with(cat(role, "/")))
        disk.put(cat(path, "/", second, file.substr(role.size())), disk.content(file));
    }
  }
  void lose(std::string_view part) {
    for (const std::string& file : disk.paths()) {
      if (file.starts_with(cat(path, "/", part))) disk.unlink(file);
    }
  }
  CheckpointVerdict verified() { return testing::verified(disk, path); }
};

TEST_CASE("all weights of one role are gone, and the other role's are there") {
  struct Case {
    const char *sample, *first, *second, *lost;
  };
  for (const Case& one : {Case{"verl/global_step_20", "actor", "critic", "actor/model_"},
                          Case{"verl/global_step_20", "actor", "critic", "critic/model_"},
                          Case{"verl-megatron/global_step_20", "actor", "critic", "actor/model/"},
                          Case{"verl-megatron/global_step_20", "actor", "critic", "critic/model/dist_ckpt/"},
                          Case{"skyrl/global_step_20", "policy", "critic", "policy/model_"},
                          Case{"skyrl/global_step_20", "policy", "critic", "critic/model_"}}) {
    const std::string_view lost = one.lost;
    CAPTURE(std::string(lost));
    TwoRoles on(one.sample, one.first, one.second);
    CHECK(on.verified().state == State::kWhole);
    on.lose(lost);
    const CheckpointVerdict verdict = on.verified();
    CAPTURE(text_of(verdict));
    CHECK(verdict.state == State::kPartial);
    CHECK(verdict.resumable == CheckpointVerdict::Resumable::kNo);
    const std::string_view role = lost.substr(0, lost.find('/'));
    CHECK(contains(text_of(verdict), cat(role, ": its weights are missing: only ")));
  }
}

TEST_CASE("of one role without a second one nothing but states is there, among them a tensor of random numbers") {
  TwoRoles on("verl-megatron/global_step_20", "actor", "none");
  on.lose("none/");
  on.lose("actor/model/");
  const std::string place = cat(on.path, "/actor/extra/dist_ckpt/");
  for (const char* const file : {".metadata", "__0_0.distcp", "__0_1.distcp", "__0_2.distcp", "__0_3.distcp"}) {
    const std::string from = cat("/ck/slime/iter_0000020/", file);
    if (on.disk.exists(from)) on.disk.put(cat(place, file), on.disk.content(from));
  }
  CHECK(on.verified().state == State::kPartial);
}

TEST_CASE("weights of a role in an export, or of a format that is not read, are some") {
  TwoRoles exported("verl/global_step_20", "actor", "critic");
  exported.lose("actor/model_");
  exported.disk.put(cat(exported.path, "/actor/huggingface/model.safetensors"),
                    exported.disk.content("/ck/trl/checkpoint-20/model.safetensors"));
  CHECK_FALSE(contains(text_of(exported.verified()), "its weights are missing"));
  TwoRoles other("verl/global_step_20", "actor", "critic");
  other.lose("actor/model_");
  other.disk.put(cat(other.path, "/actor/weights.packed"), std::string(100'000, 'w'));
  CHECK_FALSE(contains(text_of(other.verified()), "its weights are missing"));
}

TEST_CASE("the watch beside a run calls it no whole one, and broken after a whole one") {
  TwoRoles on("verl/global_step_20", "actor", "critic");
  const CheckpointScan before = scan_checkpoint(on.disk, on.path, 20, nullptr);
  CHECK(before.seen.how == event::CheckpointSeen::How::kWhole);
  on.lose("actor/model_");
  CHECK(scan_checkpoint(on.disk, on.path, 20, nullptr).seen.how == event::CheckpointSeen::How::kUnknown);
  CHECK(scan_checkpoint(on.disk, on.path, 20, &before).seen.how == event::CheckpointSeen::How::kBroken);
}

TEST_CASE("a weight that an actor's ranks lost shows, though the critic has one of that name") {
  FakeDisk disk;
  const auto put = [&disk](int step, const std::string& role, int weights) {
    testing::TorchSave rank;
    std::vector<std::pair<std::string, std::string>> items;
    for (int i = 0; i < weights; ++i)
      items.emplace_back(rank.text(cat("model.layers.", i, ".mlp.weight")), rank.tensor({4, 4}));
    const std::string name = "model_world_size_1_rank_0";
    disk.put(cat("/run/global_step_", step, "/", role, "/", name, ".pt"), rank.archive(rank.dict(items), name));
    disk.put(cat("/run/global_step_", step, "/data.pt"), "");
  };
  for (const int step : {10, 20}) {
    put(step, "actor", step == 10 ? 8 : 6);
    put(step, "critic", 8);
  }
  VerifyOptions options;
  options.now = Time::from_seconds(4e9);
  options.beside = {"/run/global_step_10"};
  const auto verdict = verify_checkpoint(disk, "/run/global_step_20", options);
  REQUIRE(verdict.ok());
  CHECK(contains(text_of(*verdict), "model.layers.6.mlp.weight (and 1 more) is not in it, and is F32 [4, 4] in "));
}

TEST_CASE("the role of a path") {
  CHECK(role_in("actor/model_world_size_2_rank_0.pt") == "actor");
  CHECK(role_in("critic/model/dist_ckpt/__0_0.distcp:w") == "critic");
  CHECK(role_in("model.safetensors").empty());
  CHECK(role_in("actor").empty());
}

}  // namespace
}  // namespace mw
