// Single files of weights that torch.save wrote (tests/checkpoints/make_single.py).
#include <doctest/doctest.h>

#include <algorithm>

#include "sense/checkpoints/find.h"
#include "sense/checkpoints/samples_for_test.h"
#include "sense/checkpoints/scan.h"
#include "sense/checkpoints/torch_save_for_test.h"
#include "sense/checkpoints/verify.h"

namespace mw {
namespace {

using State = CheckpointVerdict::State;
using Resumable = CheckpointVerdict::Resumable;

std::string content_of(const std::string& name) {
  std::ifstream file(MW_SOURCE_DIR "/tests/checkpoints/single/" + name, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  REQUIRE_FALSE(content.str().empty());
  return content.str();
}

/// Of the file by itself, and of a folder that has nothing else in it.
CheckpointVerdict verified(const std::string& name, bool folder = false) {
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  disk.put(cat("/ck/", name), content_of(name));
  VerifyOptions options;
  options.deep = true;
  options.now = Time::from_seconds(1768500000);
  auto verdict = verify_checkpoint(disk, folder ? "/ck" : cat("/ck/", name), options);
  REQUIRE(verdict.ok());
  return std::move(*verdict);
}

std::string breaking(const CheckpointVerdict& verdict) {
  std::string out;
  for (const CheckpointProblem& one : verdict.problems) out += one.breaks ? cat(one.what, "\n") : "";
  return out;
}

TEST_CASE("a trainer's figures beside the weights, and masks, make no checkpoint suspect") {
  for (const bool folder : {false, true}) {
    for (const char* name : {"best_val.pt", "val_loss.pt", "lightning.ckpt", "causal.pt"}) {
      CAPTURE(name);
      const CheckpointVerdict verdict = verified(name, folder);
      CHECK(breaking(verdict).empty());
      CHECK(verdict.state == State::kWhole);
      CHECK(verdict.depth == CheckDepth::kSane);
    }
  }
  // What its name says is not even worth knowing.
  CHECK(verified("best_val.pt").problems.empty());
  CHECK(verified("lightning.ckpt").problems.empty());
  CHECK(verified("best_val.pt").deep.all.not_finite == 0);
  REQUIRE(verified("val_loss.pt").problems.size() == 1);
  CHECK(verified("val_loss.pt").problems[0].what ==
        "1 of the 1 numbers of val_loss are NaN, which seems to be the trainer's and no weight");
}

TEST_CASE("a single number of the model that is not finite makes it suspect") {
  CHECK(verified("sick.pt").state == State::kSuspect);
  CHECK(breaking(verified("sick.pt")) == "1 of the 1 numbers of model.logit_scale are NaN\n");
  CHECK(verified("sick_bare.pt").state == State::kSuspect);
  CHECK(breaking(verified("sick_bare.pt")) == "1 of the 1 numbers of logit_scale are infinite\n");
}

TEST_CASE("a file with an optimizer beside the model is not weights alone, by itself or in a folder") {
  for (const bool folder : {false, true}) {
    CAPTURE(folder);
    for (const char* name : {"best_val.pt", "lightning.ckpt"}) {
      CHECK(verified(name, folder).resumable == Resumable::kUnknown);
      const auto& pieces = verified(name, folder).pieces;
      CHECK(std::find(pieces.begin(), pieces.end(), Piece::kOptimizer) != pieces.end());
      CHECK(std::find(pieces.begin(), pieces.end(), Piece::kStep) != pieces.end());
    }
    for (const char* name : {"no_optimizer.pt", "causal.pt", "module.pt"})
      CHECK(verified(name, folder).resumable == Resumable::kNo);
  }
}

TEST_CASE("a file of torch.save without any tensor is not whole, and not taken for one of weights") {
  for (const bool folder : {false, true}) {
    for (const char* name : {"nothing.pt", "empty.pt"}) {
      CAPTURE(name);
      const CheckpointVerdict verdict = verified(name, folder);
      CHECK(verdict.state == State::kPartial);
      REQUIRE(verdict.problems.size() == 1);
      CHECK(verdict.problems[0].trouble == Trouble::kMetadataOnly);
      CHECK(contains(verdict.problems[0].what, "there are no weights in it"));
    }
    CHECK(verified("module.pt", folder).state == State::kWhole);
  }
  FakeDisk disk;
  disk.set_time(Time::from_seconds(1768465800));
  VerifyOptions options;
  options.now = Time::from_seconds(1768500000);
  const auto state = [&](const std::string& path) { return verify_checkpoint(disk, path, options)->state; };
  // Beside weights it takes nothing from them; and what a small file of another format is nobody knows.
  disk.put("/a/step_20/meta.pt", content_of("nothing.pt"));
  CHECK(state("/a/step_20") == State::kPartial);
  disk.put("/a/step_20/model.pt", content_of("module.pt"));
  CHECK(state("/a/step_20") == State::kWhole);
  disk.put("/b/step_20/meta.pt", content_of("nothing.pt"));
  disk.put("/b/step_20/weights.raw", "weights");
  CHECK(state("/b/step_20") == State::kUnknown);
  // A name that says that it is no file of weights.
  disk.put("/c/rng_state.pth", content_of("nothing.pt"));
  CHECK(state("/c/rng_state.pth") == State::kForeign);
}

TEST_CASE("complex and quantized numbers of before torch 1.6 are read") {
  const CheckpointVerdict verdict = verified("odd_kinds.pt");
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.problems.empty());
  REQUIRE(verdict.notes.size() == 1);
  CHECK(contains(verdict.notes[0], "cannot be judged one by one"));
  CHECK(verdict.deep.tensors == 4);  // those with a point
}

TEST_CASE("numbers of another byte order are not judged, and that is said") {
  const CheckpointVerdict verdict = verified("other_order.pt");
  CHECK(verdict.state == State::kWhole);
  CHECK(verdict.problems.empty());
  REQUIRE(verdict.notes.size() == 2);
  CHECK(verdict.notes[0] ==
        "other_order.pt was written by a machine of the other byte order: its numbers are not judged");
  CHECK(verdict.deep.unjudged_bytes > 0);
  CHECK(verdict.deep.tensors == 0);
}

std::string found_in(FakeDisk& disk, const std::string& folder) {
  std::string out;
  const auto found = find_checkpoints(disk, folder);
  REQUIRE(found.ok());
  for (const FoundCheckpoint& one : *found)
    out += cat(out.empty() ? "" : " ", basename(one.path), "=", one.step == kNoStep ? "none" : cat(one.step));
  return out;
}

TEST_CASE("a folder of one file for each step holds as many checkpoints") {
  FakeDisk disk;
  const auto put = [&](const std::string& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) disk.put(cat(folder, "/", name), "x");
  };
  put("/home", {"ckpt_300.pt", "ckpt_100.pt", "ckpt_200.pt", "best.pt", "train.log", "config.json"});
  CHECK(found_in(disk, "/home") == "best.pt=none ckpt_100.pt=100 ckpt_200.pt=200 ckpt_300.pt=300");
  put("/lightning", {"epoch=1-step=200.ckpt", "epoch=2-step=300.ckpt", "hparams.yaml"});
  CHECK(found_in(disk, "/lightning") == "epoch=1-step=200.ckpt=200 epoch=2-step=300.ckpt=300");
  put("/deeper/ckpts", {"step-1.safetensors", "step-20.safetensors"});
  CHECK(found_in(disk, "/deeper") == "step-1.safetensors=1 step-20.safetensors=20");
}

TEST_CASE("what may be parts of one checkpoint stays one") {
  FakeDisk disk;
  const std::vector<std::vector<std::string>> kFolders = {
      {"ckpt_100.pt"},
      {"ckpt_100.pt", "ckpt_200.pt", "optimizer.pt"},
      {"ckpt_100.pt", "ckpt_200.pt", "model.safetensors"},
      {"ckpt_100.pt", "ckpt_200.pt", "ckpt_200_optim.pt"},
      {"ckpt_100.pt", "ckpt_200.pt", "trainer_state.json"},
      {"step_1_part0.pt", "step_2_part1.pt"},
      {"step_1_a0.pt", "step_1_a1.pt", "step_2_a0.pt"},
      {"ckpt_rank_0.pt", "ckpt_rank_1.pt"},
      {"layer_00-model_states.pt", "layer_01-model_states.pt"},
      {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"},
      {"model_0.pt", "model_1.pt"},
      {"consolidated.00.pth", "consolidated.01.pth"},
  };
  for (size_t i = 0; i < kFolders.size(); ++i) {
    CAPTURE(kFolders[i][0]);
    for (const std::string& name : kFolders[i]) disk.put(cat("/one", i, "/", name), "x");
    CHECK(found_in(disk, cat("/one", i)) == cat("one", i, "=none"));
  }
  // Named by its step it is one, whatever is in it.
  disk.put("/runs/step_7/ckpt_1.pt", "x");
  disk.put("/runs/step_7/ckpt_2.pt", "x");
  CHECK(found_in(disk, "/runs") == "step_7=7");
}

TEST_CASE("a save that verification alone finds broken is called by what it is a case of") {
  FakeDisk disk;
  const std::string whole = content_of("best_val.pt"), cut = whole.substr(0, whole.size() / 2);
  for (const char* number : {"0", "1"}) {
    disk.put(cat("/ck/checkpoint_", number, "/pytorch_model.bin"), whole);
    disk.put(cat("/ck/checkpoint_", number, "/optimizer.bin"), *number == '0' ? whole : cut);
  }
  const CheckpointScan folder = scan_checkpoint(disk, "/ck/checkpoint_0", kNoStep, nullptr);
  const CheckpointScan broken = scan_checkpoint(disk, "/ck/checkpoint_1", kNoStep, &folder);
  CHECK(broken.seen.how == event::CheckpointSeen::How::kBroken);
  CHECK(broken.seen.sign == "torch-zip-corrupt");
  disk.put("/ck/ckpt_5.pt", whole);
  disk.put("/ck/ckpt_10.pt", content_of("nothing.pt"));
  const CheckpointScan file = scan_checkpoint(disk, "/ck/ckpt_5.pt", 5, nullptr);
  const CheckpointScan hollow = scan_checkpoint(disk, "/ck/ckpt_10.pt", 10, &file);
  CHECK(hollow.seen.how == event::CheckpointSeen::How::kBroken);
  CHECK(hollow.seen.sign == "ckpt-metadata-only");
}

TEST_CASE("of files that are named after a metric each says its own step") {
  FakeDisk disk;
  const auto saved = [](const std::string& name, int32_t step, bool weights = true) {
    testing::TorchSave save;
    const std::string model = testing::TorchSave::dict({{testing::TorchSave::text("w"), save.tensor({4, 4})}});
    return save.archive(
        testing::TorchSave::dict({{testing::TorchSave::text("epoch"), testing::TorchSave::whole(0)},
                                  {testing::TorchSave::text("global_step"), testing::TorchSave::whole(step)},
                                  {testing::TorchSave::text(weights ? "state_dict" : "model"), model}}),
        name);
  };
  const std::string last = saved("model-03-val_reward=0.29", 30);
  disk.put("/ck/model-01-val_reward=0.31.ckpt", saved("model-01-val_reward=0.31", 10));
  disk.put("/ck/model-02-val_reward=0.40.ckpt", saved("model-02-val_reward=0.40", 20));
  disk.put("/ck/model-03-val_reward=0.29.ckpt", last);
  CHECK(found_in(disk, "/ck") ==
        "model-01-val_reward=0.31.ckpt=10 model-02-val_reward=0.40.ckpt=20 "
        "model-03-val_reward=0.29.ckpt=30");
  CHECK(verify_checkpoint(disk, "/ck/model-03-val_reward=0.29.ckpt", {})->step == 30);
  disk.put("/ck/model-03-val_reward=0.29.ckpt", last.substr(0, last.size() / 2));
  CHECK(found_in(disk, "/ck") ==
        "model-03-val_reward=0.29.ckpt=none model-01-val_reward=0.31.ckpt=10 "
        "model-02-val_reward=0.40.ckpt=20");
  disk.put("/ck/actor.ckpt", saved("actor", 20, false));  // a part of something, for all that is known
  CHECK(found_in(disk, "/ck") == "ck=none");
  FakeDisk parts;
  parts.put("/ck/encoder.ckpt", saved("encoder", 20));
  parts.put("/ck/decoder.ckpt", saved("decoder", 20));
  CHECK(found_in(parts, "/ck") == "ck=none");
}

TEST_CASE("of a name that counts epochs the file says the step") {
  const auto step_of = [](const std::string& name) {
    FakeDisk disk;
    disk.set_time(Time::from_seconds(1768465800));
    disk.put(cat("/ck/", name), content_of("lightning.ckpt"));
    return verify_checkpoint(disk, cat("/ck/", name), {})->step;
  };
  CHECK(step_of("epoch=2.ckpt") >= 0);
  CHECK(step_of("epoch=2.ckpt") == step_of("last-epoch.ckpt"));
  CHECK(step_of("epoch=2-step=7.ckpt") == kNoStep);  // as its name says
}

TEST_CASE("a .ckpt is what torch.save wrote, and as damaged as a .pt") {
  const std::string whole = content_of("lightning.ckpt");
  std::string flipped = whole;
  flipped[3] = '\x14';
  const std::vector<std::pair<std::string, State>> kCases = {{whole, State::kWhole},
                                                             {"", State::kPartial},
                                                             {std::string(whole.size(), '\0'), State::kPartial},
                                                             {whole.substr(0, whole.size() / 2), State::kPartial},
                                                             {"<html><body>502</body></html>", State::kCorrupt},
                                                             {flipped, State::kCorrupt}};
  for (const auto& one : kCases) {
    const std::string& content = one.first;
    const State state = one.second;
    CAPTURE(content.size());
    FakeDisk disk;
    disk.put("/ck/step=30.ckpt", content);
    VerifyOptions options;
    options.now = Time::from_seconds(4e9);
    const auto verdict = verify_checkpoint(disk, "/ck/step=30.ckpt", options);
    REQUIRE(verdict.ok());
    CHECK(verdict->state == state);
    if (state == State::kWhole) CHECK(verdict->layouts == std::vector<std::string>{"torch.save"});
  }
}

TEST_CASE("a file of weights without a byte, or of zeros, is partial in any format") {
  for (const char* const name : {"step_30.npz", "weights.npy", "model.weights.h5", "flax_model.msgpack", "m.gguf"}) {
    for (const size_t bytes : {size_t{0}, size_t{100'000}}) {
      CAPTURE(std::string(name));
      CAPTURE(bytes);
      FakeDisk disk;
      disk.put(cat("/ck/step_30/", name), std::string(bytes, '\0'));
      disk.put("/ck/step_30/config.json", "{}");
      VerifyOptions options;
      options.now = Time::from_seconds(4e9);
      const auto verdict = verify_checkpoint(disk, "/ck/step_30", options);
      REQUIRE(verdict.ok());
      CHECK(verdict->state == State::kPartial);
    }
  }
}

}  // namespace
}  // namespace mw
