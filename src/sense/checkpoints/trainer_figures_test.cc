#include "sense/checkpoints/trainer_figures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace mw {
namespace {

/// A file of torch.save of these F32 tensors, each with a storage of its own.
FileDirectory file_of(const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors,
                      const std::set<std::string>& keys) {
  FileDirectory out;
  out.keys = keys;
  uint64_t at = 64;
  for (const auto& [name, shape] : tensors) {
    uint64_t bytes = 4;
    for (const int64_t size : shape) bytes *= static_cast<uint64_t>(size);
    out.tensors.push_back({name, Dtype::kF32, shape, at, bytes, true});
    out.ranges.push_back({at, bytes, Dtype::kF32, 0, false, name, 0, false});
    at += bytes + 64;
  }
  return out;
}

std::string figures_of(FileDirectory file) {
  mark_trainer_figures(file);
  std::string out;
  for (const ByteRange& range : file.ranges) out += range.figure ? cat(out.empty() ? "" : " ", range.name) : "";
  return out;
}

TEST_CASE("a single number outside of all models is the trainer's") {
  CHECK(figures_of(file_of({{"model.a.weight", {8, 8}}, {"model.logit_scale", {}}, {"val_loss", {}}, {"x.y", {1}}},
                           {"model", "model.a.weight", "model.logit_scale", "val_loss", "x", "x.y"})) ==
        "val_loss x.y");
  CHECK(figures_of(file_of({{"state_dict.w", {8, 8}},
                            {"callbacks.ModelCheckpoint{'monitor': None}.kth_value", {}},
                            {"callbacks.Stats.history", {30}},
                            {"callbacks.EMA.shadow.w", {8, 8}},
                            {"optimizer_states.0.state.0.exp_avg", {8, 8}},
                            {"optimizer_states.0.param_groups.0.lr", {}}},
                           {"state_dict", "state_dict.w", "callbacks", "optimizer_states"})) ==
        "callbacks.ModelCheckpoint{'monitor': None}.kth_value callbacks.Stats.history");
}

TEST_CASE("what may be of a model is none") {
  // A model's own dict: its keys have dots, and one has none.
  CHECK(figures_of(file_of({{"logit_scale", {}}, {"visual.proj", {8, 8}}}, {"logit_scale", "visual.proj"})).empty());
  // No part of it has a matrix: all that was trained may be vectors.
  CHECK(figures_of(file_of({{"model.bias", {8}}, {"scale", {}}}, {"model", "model.bias", "scale"})).empty());
  // A vector in another part.
  CHECK(figures_of(file_of({{"model.w", {8, 8}}, {"prompt", {8}}}, {"model", "model.w", "prompt"})).empty());
  // Not a dict of torch.save: its names alone say something.
  CHECK(figures_of(file_of({{"w", {8, 8}}, {"logit_scale", {1}}}, {})).empty());
  CHECK(figures_of(file_of({{"w", {8, 8}}, {"val_metrics.metrics.total", {}}, {"best_acc", {1}}}, {})) ==
        "val_metrics.metrics.total best_acc");
}

TEST_CASE("a storage that a weight shares is a weight's") {
  FileDirectory file =
      file_of({{"model.w", {8, 8}}, {"first", {}}, {"model.scale", {}}}, {"model", "model.w", "model.scale", "first"});
  file.tensors[2].at = file.tensors[1].at;
  file.ranges.pop_back();
  CHECK(figures_of(file).empty());
}

TEST_CASE("masks are infinite by their name or by what is in them, and weights are not") {
  const auto figures = [](uint64_t numbers, uint64_t infinite, uint64_t nan, double squares) {
    TensorFigures out;
    out.numbers = numbers;
    out.not_finite = infinite + nan;
    out.nan = nan;
    out.squares = squares;
    return out;
  };
  CHECK(may_be_infinite("h.0.attn.mask", figures(64, 3, 3, 9)));
  CHECK(may_be_infinite("causal_bias", figures(64, 28, 0, 36)));
  CHECK_FALSE(may_be_infinite("causal_bias", figures(64, 28, 1, 36)));
  CHECK(may_be_infinite("h.0.attn.bias", figures(64, 28, 0, 0)));
  CHECK(may_be_infinite("h.0.attn.bias", figures(4, 1, 0, 0)));
  CHECK(may_be_infinite("fc.weight_fake_quant.min_val", figures(1, 1, 0, 0)));
  CHECK_FALSE(may_be_infinite("h.0.attn.bias", figures(64, 28, 0, 1e-9)));
  CHECK_FALSE(may_be_infinite("h.0.attn.bias", figures(64, 1, 0, 0)));
  CHECK_FALSE(may_be_infinite("h.0.attn.bias", figures(64, 64, 0, 0)));
  CHECK_FALSE(may_be_infinite("h.0.attn.bias", figures(64, 28, 1, 0)));
  CHECK_FALSE(may_be_infinite("logit_scale", figures(1, 1, 0, 0)));
}

}  // namespace
}  // namespace mw
