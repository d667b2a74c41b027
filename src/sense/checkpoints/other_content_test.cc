// Another file in the place of one: each fits by its format and its own checksums.
#include "sense/checkpoints/other_content.h"

#include <doctest/doctest.h>

#include "sense/checkpoints/content_kind.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/torch_save_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;
using Resumable = CheckpointVerdict::Resumable;
using testing::TorchSave;

CheckpointVerdict verified(FakeDisk& disk, const std::string& path, std::vector<std::string> beside = {}) {
  VerifyOptions options;
  options.now = Time::from_seconds(1768500000);
  options.beside = std::move(beside);
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

bool says(const CheckpointVerdict& verdict, std::string_view words) {
  return std::any_of(verdict.problems.begin(), verdict.problems.end(),
                     [words](const CheckpointProblem& one) { return contains(one.what, words); });
}

TEST_CASE("no file of a known kind can lie in the place of one of another kind, in any sample") {
  FakeDisk disk;
  testing::put_samples(disk);
  size_t tried = 0;
  for (const testing::Sample& sample : testing::samples()) {
    const std::string root = cat("/ck/", sample.path);
    std::vector<std::string> files;
    for (const std::string& path : disk.paths()) {
      const bool pickled = path.ends_with(".pt") || path.ends_with(".pth") || path.ends_with(".bin");
      if (path.starts_with(root + "/") && pickled && kind_of_name(basename(path)) != ContentKind::kUnknown)
        files.push_back(path);
    }
    for (const std::string& to : files) {
      const std::string own = disk.content(to);
      for (const std::string& from : files) {
        if (kind_of_name(basename(from)) == kind_of_name(basename(to)) || folder_of(from) != folder_of(to)) continue;
        CAPTURE(from);
        CAPTURE(to);
        disk.put(to, disk.content(from));
        const CheckpointVerdict verdict = verified(disk, root);
        CHECK((verdict.state == State::kCorrupt || verdict.state == State::kSuspect));
        CHECK((says(verdict, "its name calls for") || says(verdict, "it was saved as")));
        ++tried;
      }
      disk.put(to, own);
    }
  }
  CHECK(tried > 50);
}

TEST_CASE("both files of weights are an optimizer's: no weights are left") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string folder = "/ck/verl/global_step_20/actor/";
  for (const char* const rank : {"world_size_2_rank_0.pt", "world_size_2_rank_1.pt"})
    disk.put(cat(folder, "model_", rank), disk.content(cat(folder, "optim_", rank)));
  const CheckpointVerdict verdict = verified(disk, "/ck/verl/global_step_20");
  CHECK(verdict.state == State::kCorrupt);
  CHECK(says(verdict,
             "it holds the state of an optimizer, and its name calls for the weights of a model; it was saved as "
             "optim_world_size_2_rank_0"));
  CHECK(verdict.resumable == Resumable::kNo);
}

/// Steps of a trainer by transformers.
struct Trl {
  FakeDisk disk;
  Trl() { testing::put_samples(disk); }
  static std::string at(int step) { return cat("/ck/trl/checkpoint-", step); }
  void optimizer(int step, const std::string& content) { disk.put(cat(at(step), "/optimizer.pt"), content); }
};

std::string empty_state() {
  TorchSave torch;
  return torch.archive(torch.optimizer(0, {}, 0), "optimizer");
}

TEST_CASE("an optimizer without state where the save before has some, and one that never has any") {
  Trl trl;
  trl.optimizer(20, empty_state());
  const CheckpointVerdict lost = verified(trl.disk, Trl::at(20), {Trl::at(10)});
  CHECK(lost.state == State::kWhole);
  CHECK(lost.resumable == Resumable::kNo);
  CHECK(says(lost, "there is no state of an optimizer in it, and "));
  CHECK(verified(trl.disk, Trl::at(20)).resumable == Resumable::kYes);  // nothing says that it had some
  trl.optimizer(10, empty_state());
  const CheckpointVerdict never = verified(trl.disk, Trl::at(20), {Trl::at(10)});
  CHECK(never.problems.empty());
  CHECK(never.resumable == Resumable::kYes);
}

TEST_CASE("an optimizer.pt of settings is none") {
  Trl trl;
  const TorchSave torch;
  trl.optimizer(20, torch.archive(TorchSave::dict({{TorchSave::text("lr"), TorchSave::whole(1)}}), "archive"));
  const CheckpointVerdict verdict = verified(trl.disk, Trl::at(20));
  CHECK(verdict.resumable == Resumable::kNo);
  CHECK(says(verdict, "there is no state of an optimizer in it"));
}

TEST_CASE("other optimizers are no other files: one that keeps moments under the weights' names, two in one file") {
  FakeDisk disk;
  const auto put = [&disk](const std::string& object, const TorchSave& torch) {
    disk.put("/run/ckpt/step_10/optimizer.pt", torch.archive(object, "archive"));
  };
  TorchSave model;
  std::vector<std::pair<std::string, std::string>> weights;
  for (int i = 0; i < 6; ++i) {
    std::string tensor = model.tensor({8, 8});
    weights.emplace_back(TorchSave::text(cat("layers.", i, ".weight")), std::move(tensor));
  }
  const std::string archive = model.archive(TorchSave::dict(weights), "archive");
  disk.put("/run/ckpt/step_10/model.pt", archive);
  disk.put("/run/ckpt/step_10/optimizer.pt", archive);
  CHECK(verified(disk, "/run/ckpt/step_10").problems.empty());
  TorchSave two;
  const std::string first = two.optimizer(3, {8, 8}, 10), second = two.optimizer(3, {8}, 10);
  put(TorchSave::dict({{TorchSave::text("muon"), first}, {TorchSave::text("adam"), second}}), two);
  CHECK(verified(disk, "/run/ckpt/step_10").problems.empty());
  put(TorchSave::list(first + second), two);
  CHECK(verified(disk, "/run/ckpt/step_10").problems.empty());
}

/// Two ranks of verl, with weights and an optimizer each.
struct Ranks {
  FakeDisk disk;
  static std::string at(int step) { return cat("/run/global_step_", step); }
  static std::string name(const char* kind, int rank) { return cat(kind, "_world_size_2_rank_", rank); }
  void save(int step) {
    for (int rank = 0; rank < 2; ++rank) {
      TorchSave model;
      std::vector<std::pair<std::string, std::string>> weights;
      for (int i = 0; i < 6; ++i) {
        std::string tensor = model.tensor({8, 8});
        weights.emplace_back(TorchSave::text(cat("layers.", i, ".weight")), std::move(tensor));
      }
      put(step, "model", rank, model.archive(TorchSave::dict(weights), name("model", rank)));
      optimizer(step, rank, 6, {8, 8});
      const TorchSave extra;
      put(step, "extra_state", rank, extra.archive(TorchSave::dict({}), name("extra_state", rank)));
    }
    disk.put(cat(at(step), "/data.pt"), TorchSave().archive(TorchSave::dict({}), "data"));
  }
  void put(int step, const char* kind, int rank, const std::string& content) {
    disk.put(cat(at(step), "/actor/", name(kind, rank), ".pt"), content);
  }
  void optimizer(int step, int rank, int parameters, const std::vector<int32_t>& shape) {
    TorchSave torch;
    const std::string object = torch.optimizer(parameters, shape, step);
    put(step, "optim", rank, torch.archive(object, name("optim", rank)));
  }
};

TEST_CASE("a rank whose optimizer holds nothing, or a hundredth of what it held, where the others hold all") {
  Ranks ranks;
  for (const int step : {10, 20}) ranks.save(step);
  const auto look = [&ranks] { return verified(ranks.disk, Ranks::at(20), {Ranks::at(10)}); };
  REQUIRE(look().problems.empty());
  ranks.optimizer(20, 1, 0, {});
  CHECK(look().state == State::kSuspect);
  CHECK(says(look(), "there is no state of an optimizer in it, and 6 tensors of one in optim_world_size_2_rank_0.pt"));
  ranks.optimizer(20, 1, 6, {1});
  CHECK(look().state == State::kSuspect);
  CHECK(says(look(), "most of it is not there"));
  ranks.optimizer(10, 1, 6, {1});  // as it always was: a part of the model that has next to nothing
  CHECK_FALSE(says(look(), "most of it is not there"));
  ranks.put(20, "model", 1, TorchSave().archive(TorchSave::dict({}), Ranks::name("model", 1)));
  ranks.optimizer(20, 1, 0, {});
  CHECK_FALSE(says(look(), "there is no state of an optimizer"));  // a rank without weights has none
}

TEST_CASE("weights of ZeRO 3 that are in the ranks' partitions only are weights") {
  FakeDisk disk;
  const auto save = [&disk](bool partitions) {
    for (int rank = 0; rank < 2; ++rank) {
      const std::string ranks = cat("zero_pp_rank_", rank, "_mp_rank_00_");
      TorchSave model, optimizer;
      const std::string empty = model.tensor({0}), flat = optimizer.tensor({partitions ? 64 : 0});
      const std::string state = optimizer.optimizer(partitions ? 1 : 0, {64}, 10);
      disk.put(cat("/run/global_step10/", ranks, "model_states.pt"),
               model.archive(TorchSave::dict({{TorchSave::text("module"),
                                               TorchSave::dict({{TorchSave::text("layers.0.weight"), empty}})},
                                              {TorchSave::text("param_shapes"), TorchSave::list("")},
                                              {TorchSave::text("global_steps"), TorchSave::whole(10)},
                                              {TorchSave::text("dp_world_size"), TorchSave::whole(2)}}),
                             cat(ranks, "model_states")));
      disk.put(cat("/run/global_step10/", ranks, "optim_states.pt"),
               optimizer.archive(
                   TorchSave::dict({{TorchSave::text("optimizer_state_dict"),
                                     TorchSave::dict({{TorchSave::text("optimizer_state_dict"), state},
                                                      {TorchSave::text("fp32_flat_groups"), TorchSave::list(flat)}})}}),
                   cat(ranks, "optim_states")));
    }
  };
  save(true);
  const CheckpointVerdict whole = verified(disk, "/run/global_step10");
  CHECK(whole.state == State::kWhole);
  CHECK(whole.resumable == Resumable::kYes);
  save(false);
  CHECK(verified(disk, "/run/global_step10").state == State::kPartial);
}

TEST_CASE("files for other programs beside the weights are not judged, and leave a checkpoint whole") {
  Trl trl;
  for (const char* const name : {"model-q8.gguf", "flax_model.msgpack", "tf_model.h5", "tokens.npy", "more.npz"}) {
    const std::string path = cat(Trl::at(20), "/", name);
    trl.disk.put(path, std::string(100'000, 'g'));
    const CheckpointVerdict verdict = verified(trl.disk, Trl::at(20));
    CAPTURE(path);
    CHECK(verdict.state == State::kWhole);
    CHECK(verdict.resumable == Resumable::kYes);
    REQUIRE(verdict.notes.size() == 1);
    CHECK(contains(verdict.notes[0], cat(name, " is of a format that midwatch does not read: it was not judged")));
    trl.disk.unlink(path);
  }
  trl.disk.put("/alone/checkpoint-20/model-q8.gguf", std::string(100'000, 'g'));
  CHECK(verified(trl.disk, "/alone/checkpoint-20").state == State::kUnknown);
}

TEST_CASE("an export of SkyRL is a whole model without the trainer's state; a save that was broken off is none") {
  FakeDisk disk;
  testing::put_samples(disk);
  for (const char* const name : {"model.safetensors", "config.json", "tokenizer_config.json"})
    disk.put(cat("/exports/global_step_20/policy/", name), disk.content(cat("/ck/trl/checkpoint-20/", name)));
  const CheckpointVerdict verdict = verified(disk, "/exports/global_step_20");
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.framework == "skyrl");
  CHECK(verdict.resumable == Resumable::kNo);
  CHECK(contains(verdict.notes.at(0), "an export for inference"));
  disk.unlink("/ck/skyrl/global_step_20/trainer_state.pt");
  CHECK(verified(disk, "/ck/skyrl/global_step_20").state == State::kPartial);
  disk.put("/exports/global_step_20/policy/model.safetensors",
           disk.content("/ck/trl/checkpoint-20/model.safetensors").substr(0, 500));
  CHECK(verified(disk, "/exports/global_step_20").state == State::kPartial);
}

}  // namespace
}  // namespace mw
