// Weights that are not, or not all, in files whose sizes and names are right.
#include <doctest/doctest.h>

#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/torch_save_for_test.h"
#include "sense/checkpoints/verdict_text_for_test.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;
using Resumable = CheckpointVerdict::Resumable;
using testing::TorchSave;

CheckpointVerdict verified(Disk& disk, const std::string& path, const std::vector<std::string>& beside = {},
                           bool deep = false) {
  VerifyOptions options;
  options.now = Time::from_seconds(4e9);
  options.beside = beside;
  options.deep = deep;
  auto verdict = verify_checkpoint(disk, path, options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  REQUIRE(what.size() == with.size());
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

struct Prime {
  FakeDisk disk;
  Prime() { testing::put_samples(disk); }
  static std::string path(int step) { return cat("/ck/prime-rl/checkpoints/step_", step); }
  static std::string metadata() { return cat(path(20), "/trainer/.metadata"); }
  void rename_in_metadata(std::string_view what, std::string_view with) {
    disk.put(metadata(), replaced(disk.content(metadata()), what, with));
  }
};

TEST_CASE("torch.distributed.checkpoint of an optimizer alone holds no weights") {
  Prime prime;
  prime.rename_in_metadata("model.", "optim.");
  prime.rename_in_metadata("lm_head.weight", "optim_h.weight");
  const CheckpointVerdict verdict = verified(prime.disk, Prime::path(20));
  CAPTURE(text_of(verdict));
  CHECK(verdict.state == State::kPartial);
  CHECK(contains(text_of(verdict), "there are no weights in it"));
  // A folder for nothing but the optimizer says so.
  for (const char* const name : {".metadata", "__0_0.distcp"})
    prime.disk.put(cat("/ck/optim/step_20/", name), prime.disk.content(cat(Prime::path(20), "/trainer/", name)));
  CHECK(verified(prime.disk, "/ck/optim/step_20").state == State::kForeign);
}

TEST_CASE("torch.distributed.checkpoint without an optimizer lacks it for a resume") {
  Prime prime;
  CHECK(lacks_of(verified(prime.disk, Prime::path(20))).empty());
  prime.rename_in_metadata("optim.exp_avg", "model.average");
  const CheckpointVerdict verdict = verified(prime.disk, Prime::path(20));
  CAPTURE(text_of(verdict));
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.resumable == Resumable::kNo);
  CHECK(lacks_of(verdict) == "optimizer");
}

TEST_CASE("a tensor of which .metadata lists a part only") {
  Prime prime;
  std::string text = prime.disk.content(Prime::metadata());
  size_t at = text.find("sizes");
  REQUIRE(at != std::string::npos);
  at = text.find('K', at);
  REQUIRE(at + 1 < text.size());
  text[at + 1] = static_cast<char>(text[at + 1] / 2);
  prime.disk.put(Prime::metadata(), text);
  const CheckpointVerdict verdict = verified(prime.disk, Prime::path(20));
  CAPTURE(text_of(verdict));
  CHECK(verdict.state == State::kCorrupt);
  CHECK(contains(text_of(verdict), "of model.embed.weight it lists"));
}

/// SFT: no orchestrator, and each rank's place in the data.
void make_supervised(Prime& prime, int step) {
  prime.disk.unlink(cat(Prime::path(step), "/orchestrator/progress.pt"));
  for (int rank = 0; rank < 2; ++rank) {
    TorchSave place;
    prime.disk.put(
        cat(Prime::path(step), "/trainer/dataloader/rank_", rank, ".pt"),
        place.archive(TorchSave::dict({{TorchSave::text("epoch"), TorchSave::whole(step)}}), cat("rank_", rank)));
  }
}

TEST_CASE("a save of prime-rl's SFT has no orchestrator, and rank 0's place in the data") {
  Prime prime;
  make_supervised(prime, 10);
  make_supervised(prime, 20);
  const CheckpointVerdict whole = verified(prime.disk, Prime::path(20), {Prime::path(10)});
  CAPTURE(text_of(whole));
  CHECK(whole.state == State::kWhole);
  CHECK(whole.resumable == Resumable::kYes);
  const std::string folder = cat(Prime::path(20), "/trainer/dataloader/");
  const std::string first = prime.disk.content(cat(folder, "rank_0.pt"));
  prime.disk.put(cat(folder, "rank_0.pt"), cat("QQ", first.substr(2)));
  CHECK(verified(prime.disk, Prime::path(20)).state == State::kCorrupt);
  prime.disk.unlink(cat(folder, "rank_0.pt"));
  CHECK(lacks_of(verified(prime.disk, Prime::path(20))) == "dataloader");
  prime.disk.unlink(cat(folder, "rank_1.pt"));
  const CheckpointVerdict none = verified(prime.disk, Prime::path(20), {Prime::path(10)});
  CAPTURE(text_of(none));
  CHECK(none.state == State::kWhole);
  CHECK(lacks_of(none) == "dataloader");
}

TEST_CASE("prime-rl's progress within torch's files says the step") {
  Prime prime;
  const std::string stages = "/ck/prime-rl-stages/checkpoints/step_20", other = "/ck/new/step_30";
  for (const char* const name : {".metadata", "__0_0.distcp", "__1_0.distcp"})
    prime.disk.put(cat(other, "/trainer/", name), prime.disk.content(cat(stages, "/trainer/", name)));
  TorchSave place;
  prime.disk.put(cat(other, "/trainer/dataloader/rank_0.pt"),
                 place.archive(TorchSave::dict({{TorchSave::text("epoch"), TorchSave::whole(1)}}), "rank_0"));
  const CheckpointVerdict verdict = verified(prime.disk, other);
  CAPTURE(text_of(verdict));
  CHECK(verdict.state == State::kCorrupt);
  CHECK(contains(text_of(verdict), "it is of step 20"));
}

// ---- DeepSpeed

struct Zero {
  FakeDisk disk;
  Zero() { disk.set_time(Time::from_seconds(1'768'465'800)); }

  /// A model of 64 + 32 numbers in two groups; `held`: of each rank.
  void save(int stage, const std::vector<int>& held, float weight = 0.5F, int group = 0) {
    for (size_t rank = 0; rank < held.size(); ++rank) {
      TorchSave model, optimizer;
      const auto shape = [](int a, int b) {
        return cat("ctorch\nSize\n((", TorchSave::whole(a), TorchSave::whole(b), "ttR");
      };
      const std::string shapes = TorchSave::list(cat(TorchSave::dict({{TorchSave::text("a.weight"), shape(8, 8)}}),
                                                     TorchSave::dict({{TorchSave::text("b.weight"), shape(4, 8)}})));
      const std::string module =
          TorchSave::dict({{TorchSave::text("a.weight"), model.tensor({stage == 3 ? 0 : 64}, 0.5F)}});
      const std::string ranks = cat("zero_pp_rank_", rank, "_mp_rank_00_");
      const std::string name = stage == 3 ? cat(ranks, "model_states") : "mp_rank_00_model_states";
      disk.put(cat("/run/global_step10/", name, ".pt"),
               model.archive(TorchSave::dict({{TorchSave::text("module"), module},
                                              {TorchSave::text("param_shapes"), shapes},
                                              {TorchSave::text("global_steps"), TorchSave::whole(10)},
                                              {TorchSave::text("dp_world_size"),
                                               TorchSave::whole(static_cast<int32_t>(held.size()))}}),
                             name));
      const std::string state = optimizer.optimizer(1, {held[rank]}, 10, 0.25F);
      std::string flat = optimizer.tensor({held[rank]}, rank == 1 ? weight : 0.5F);
      if (group > 0) flat += optimizer.tensor({group});
      const char* const key = stage == 3 ? "fp32_flat_groups" : "single_partition_of_fp32_groups";
      disk.put(cat("/run/global_step10/", ranks, "optim_states.pt"),
               optimizer.archive(TorchSave::dict({{TorchSave::text("optimizer_state_dict"),
                                                   TorchSave::dict({{TorchSave::text("optimizer_state_dict"), state},
                                                                    {TorchSave::text(key), TorchSave::list(flat)}})}}),
                                 cat(ranks, "optim_states")));
    }
  }
  CheckpointVerdict look(bool deep = false) { return verified(disk, "/run/global_step10", {}, deep); }
};

TEST_CASE("the ranks' parts of ZeRO are together what param_shapes ask for") {
  for (const int stage : {2, 3}) {
    CAPTURE(stage);
    Zero zero;
    zero.save(stage, {48, 48});
    CHECK(zero.look().state == State::kWhole);
    zero.save(stage, {50, 50});  // padding
    CHECK(zero.look().state == State::kWhole);
    zero.save(stage, {48, 32}, 0.5F, 16);  // in two groups; the last rank without padding
    CHECK(zero.look().state == State::kWhole);
    zero.save(stage, {96, 96});  // kept twice
    CHECK(zero.look().state == State::kWhole);
    zero.save(stage, {48, 24});
    const CheckpointVerdict verdict = zero.look();
    CAPTURE(text_of(verdict));
    CHECK(verdict.state == State::kCorrupt);
    CHECK(contains(text_of(verdict),
                   "zero_pp_rank_1_mp_rank_00_optim_states.pt: the weights in the ranks' files are "
                   "72 numbers, and 96 are in the shapes"));
  }
}

TEST_CASE("a rank's part of ZeRO that is zero, and whose moments are none, is lost") {
  for (const int stage : {2, 3}) {
    CAPTURE(stage);
    Zero zero;
    zero.save(stage, {70, 70}, 0);
    CHECK(zero.look().state == State::kWhole);
    const CheckpointVerdict verdict = zero.look(true);
    CAPTURE(text_of(verdict));
    CHECK(verdict.state == State::kSuspect);
    CHECK(contains(text_of(verdict), "zero_pp_rank_1_mp_rank_00_optim_states.pt: every number of the weights that "));
    zero.save(stage, {70, 70});
    CHECK(zero.look(true).state == State::kWhole);
  }
}

TEST_CASE("a rank's piece of ZeRO 3 that is of another size than the others' is none of this model's") {
  for (const float other : {50.0F, 0.5F, 1.0F}) {
    CAPTURE(other);
    Zero zero;
    zero.save(3, {2000, 2000, 2000}, other);
    const CheckpointVerdict verdict = zero.look(true);
    CAPTURE(text_of(verdict));
    CHECK(verdict.state == (other > 2 ? State::kSuspect : State::kWhole));
    CHECK(contains(text_of(verdict), "zero_pp_rank_1_mp_rank_00_optim_states.pt: its numbers are") == (other > 2));
  }
  Zero small;
  small.save(3, {2000, 2000, 2000}, 0.01F);
  CHECK(small.look(true).state == State::kSuspect);
  Zero two;
  two.save(3, {2000, 2000}, 50);
  CHECK(contains(text_of(two.look(true)), "zero_pp_rank_1_mp_rank_00_optim_states.pt: its numbers are 50 in size"));
  Zero stage_2;  // the other weights of another rank
  stage_2.save(2, {2000, 2000, 2000}, 50);
  CHECK(stage_2.look(true).state == State::kWhole);
}

TEST_CASE("what a save of ZeRO 3 by more ranks left is opened by none") {
  Zero zero;
  zero.save(3, {48, 48, 48, 48});
  zero.disk.set_time(Time::from_seconds(1'768'465'800 + 86'400));
  zero.save(3, {48, 48});
  const CheckpointVerdict verdict = zero.look();
  CAPTURE(text_of(verdict));
  CHECK(verdict.state == State::kWhole);
  Zero fresh;  // of one save
  fresh.save(3, {48, 48, 48, 48});
  fresh.save(3, {48, 48});
  CHECK(fresh.look().state != State::kWhole);
}

// ---- what a loader asks for

struct Trl {
  FakeDisk disk;
  Trl() { testing::put_samples(disk); }
  static std::string path(int step) { return cat("/ck/trl/checkpoint-", step); }
  /// The weights and the optimizer as DeepSpeed keeps them.
  void with_deepspeed(int step) {
    const std::string zero = "/ck/deepspeed-zero1/global_step20";
    const auto names = disk.list(zero);
    REQUIRE(names.ok());
    for (const std::string& name : *names)
      disk.put(cat(path(step), "/global_step", step, "/", name), disk.content(cat(zero, "/", name)));
    disk.unlink(cat(path(step), "/optimizer.pt"));
    disk.put(cat(path(step), "/latest"), cat("global_step", step));
  }
};

TEST_CASE("transformers finds DeepSpeed's folder by latest") {
  Trl trl;
  trl.with_deepspeed(20);
  const CheckpointVerdict whole = verified(trl.disk, Trl::path(20));
  CAPTURE(text_of(whole));
  CHECK(whole.state == State::kWhole);
  CHECK(whole.resumable == Resumable::kYes);
  const std::string latest = cat(Trl::path(20), "/latest");
  for (const char* const tag : {"", "\n", "global_step10"}) {
    trl.disk.put(latest, tag);
    const CheckpointVerdict verdict = verified(trl.disk, Trl::path(20));
    CAPTURE(tag);
    CHECK(verdict.state == State::kWhole);
    CHECK(lacks_of(verdict) == "pointer");
  }
  trl.disk.unlink(latest);
  CHECK(lacks_of(verified(trl.disk, Trl::path(20))) == "pointer");
}

TEST_CASE("a scheduler that the saves around have is missing; what no save has is not") {
  Trl trl;
  trl.with_deepspeed(10);
  trl.with_deepspeed(20);
  trl.disk.unlink(cat(Trl::path(20), "/scheduler.pt"));
  const CheckpointVerdict verdict = verified(trl.disk, Trl::path(20), {Trl::path(10)});
  CAPTURE(text_of(verdict));
  CHECK(verdict.state == State::kWhole);
  CHECK(lacks_of(verdict) == "scheduler");
  trl.disk.unlink(cat(Trl::path(10), "/scheduler.pt"));
  CHECK(lacks_of(verified(trl.disk, Trl::path(20), {Trl::path(10)})).empty());
}

TEST_CASE("an export is all that verl was asked to save") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string path = "/run/global_step_20";
  for (const char* const name : {"model.safetensors", "config.json", "tokenizer_config.json"})
    disk.put(cat(path, "/actor/huggingface/", name), disk.content(cat("/ck/trl/checkpoint-20/", name)));
  disk.put(cat(path, "/data.pt"), disk.content("/ck/verl/global_step_20/data.pt"));
  const CheckpointVerdict verdict = verified(disk, path);
  CAPTURE(text_of(verdict));
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.resumable == Resumable::kNo);
  disk.put(cat(path, "/actor/huggingface/model.safetensors"),
           disk.content("/ck/trl/checkpoint-20/model.safetensors").substr(0, 500));
  CHECK(verified(disk, path).state == State::kPartial);
  // A rank's optimizer shows that there were parts of ranks: they are lost.
  disk.put(cat(path, "/actor/huggingface/model.safetensors"), disk.content("/ck/trl/checkpoint-20/model.safetensors"));
  const std::string optimizer = "/actor/optim_world_size_2_rank_0.pt";
  disk.put(cat(path, optimizer), disk.content(cat("/ck/verl/global_step_20", optimizer)));
  CHECK(verified(disk, path).state == State::kPartial);
}

TEST_CASE("accelerate's scheduler is missing where the saves around have it") {
  Trl trl;
  for (const int step : {10, 20}) {
    for (const char* const name : {"trainer_state.json", "rng_state.pth", "training_args.bin"})
      trl.disk.unlink(cat(Trl::path(step), "/", name));
    REQUIRE(trl.disk.rename(cat(Trl::path(step), "/optimizer.pt"), cat(Trl::path(step), "/optimizer.bin")).ok());
    REQUIRE(trl.disk.rename(cat(Trl::path(step), "/scheduler.pt"), cat(Trl::path(step), "/scheduler.bin")).ok());
    trl.disk.put(cat(Trl::path(step), "/random_states_0.pkl"), std::string("\x80\x02}.", 4));
  }
  CHECK(lacks_of(verified(trl.disk, Trl::path(20), {Trl::path(10)})).empty());
  trl.disk.unlink(cat(Trl::path(20), "/scheduler.bin"));
  const CheckpointVerdict verdict = verified(trl.disk, Trl::path(20), {Trl::path(10)});
  CAPTURE(text_of(verdict));
  CHECK(verdict.framework == "accelerate");
  CHECK(lacks_of(verdict) == "scheduler");
  CHECK(lacks_of(verified(trl.disk, Trl::path(20))).empty());
}

TEST_CASE("NeMo-RL finds Megatron's weights by their tracker") {
  FakeDisk disk;
  testing::put_samples(disk);
  const std::string path = "/run/step_20", weights = cat(path, "/policy/weights/");
  const auto names = disk.list("/ck/slime/iter_0000020");
  REQUIRE(names.ok());
  for (const std::string& name : *names)
    disk.put(cat(weights, "iter_0000000/", name), disk.content(cat("/ck/slime/iter_0000020/", name)));
  for (const char* const name : {"training_info.json", "train_dataloader.pt"})
    disk.put(cat(path, "/", name), disk.content(cat("/ck/nemo-rl/step_20/", name)));
  const std::string tracker = cat(weights, "latest_checkpointed_iteration.txt");
  disk.put(tracker, "0");
  CHECK(lacks_of(verified(disk, path)).empty());
  disk.put(tracker, "release\n");
  CHECK(lacks_of(verified(disk, path)).empty());
  for (const std::string& text :
       {std::string(), std::string("<html>502 Bad Gateway</html>"), std::string(1, '\0'), std::string(5000, '0')}) {
    disk.put(tracker, text);
    CHECK(lacks_of(verified(disk, path)) == "pointer");
  }
  disk.unlink(tracker);
  CHECK(lacks_of(verified(disk, path)) == "pointer");
  disk.put(cat(weights, "latest_train_state.pt"), disk.content("/ck/slime/iter_0000020/common.pt"));
  CHECK(lacks_of(verified(disk, path)).empty());
}

TEST_CASE("Lightning's folders are a checkpoint each, of the step in their name") {
  CHECK(step_of_name("epoch=0-step=40.ckpt") == 40);
  CHECK(step_of_name("epoch=1-val_loss=0.2-step=40-v1.ckpt") == 40);
  CHECK(step_of_name("last.ckpt") == kNoStep);
  CHECK(step_of_name("epoch=0-step=.ckpt") == kNoStep);
  CHECK(step_of_name("epoch=0-max_step=40.ckpt") == kNoStep);
  Prime prime;
  for (const int step : {10, 20}) {
    for (const char* const name : {".metadata", "__0_0.distcp"})
      prime.disk.put(cat("/run/epoch=0-step=", step, ".ckpt/", name),
                     prime.disk.content(cat(Prime::path(20), "/trainer/", name)));
  }
  const auto found = find_checkpoints(prime.disk, "/run");
  REQUIRE(found.ok());
  REQUIRE(found->size() == 2);
  CHECK(found->front().step == 10);
  CHECK(found->back().step == 20);
  CHECK(verified(prime.disk, found->back().path).state == State::kWhole);
}

TEST_CASE("Megatron-Bridge's pointer is no checkpoint beside those that it names one of") {
  FakeDisk disk;
  testing::put_samples(disk);
  disk.put("/ck/slime/latest_train_state.pt", disk.content("/ck/slime/iter_0000020/common.pt"));
  const auto found = find_checkpoints(disk, "/ck/slime");
  REQUIRE(found.ok());
  for (const FoundCheckpoint& one : *found) CHECK(basename(one.path).starts_with("iter_"));
}

}  // namespace
}  // namespace mw
