#include "sense/checkpoints/content_kind.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/file_directory.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/optimizer_counter.h"
#include "sense/checkpoints/torch_object.h"

namespace mw {
namespace {

constexpr size_t kFewWeights = 4;  // names of which do not make a model

using Keys = std::set<std::string>;

bool has_any(const Keys& keys, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&keys](const char* name) { return keys.count(name) != 0; });
}

/// As torch.optim, and DeepSpeed around it, writes one by itself; beside a model it lies a level deeper.
bool is_optimizer(const Keys& keys) {
  if (has_any(keys, {"module", "model", "param_shapes"})) return false;
  return (has_any(keys, {"param_groups"}) && has_any(keys, {"state"})) || has_any(keys, {"optimizer_state_dict"});
}

bool is_scheduler(const Keys& keys) {
  return has_any(keys, {"last_epoch"}) && has_any(keys, {"_step_count", "base_lrs", "_last_lr"});
}

bool is_extra_state(const Keys& keys) { return has_any(keys, {"lr_scheduler"}) && has_any(keys, {"rng", "rng_state"}); }

bool is_rng(const Keys& keys) {
  return has_any(keys, {"python", "random", "numpy"}) && has_any(keys, {"cpu", "torch", "cuda"});
}

/// Names of weights, in the file's outermost dict or one below it.
bool is_model(const Keys& keys) {
  const auto is_weight = [](const std::string& key) { return key.ends_with(".weight") || key.ends_with(".bias"); };
  const auto weights = static_cast<size_t>(std::count_if(keys.begin(), keys.end(), is_weight));
  return weights >= kFewWeights && weights * 2 >= keys.size();
}

ContentKind kind_of(const Keys& keys) {
  if (is_optimizer(keys)) return ContentKind::kOptimizer;
  // A trainer of its own keeps what it likes in one file.
  if (has_any(keys, {"state", "param_groups", "optimizer", "model", "module", "state_dict"}))
    return is_model(keys) && !has_any(keys, {"state", "param_groups", "optimizer"}) ? ContentKind::kModel
                                                                                    : ContentKind::kUnknown;
  if (is_extra_state(keys)) return ContentKind::kExtraState;
  if (is_scheduler(keys)) return ContentKind::kScheduler;
  if (is_rng(keys)) return ContentKind::kRng;
  return is_model(keys) ? ContentKind::kModel : ContentKind::kUnknown;
}

}  // namespace

bool is_partition(std::string_view tensor) {
  constexpr std::string_view kState = "optimizer_state_dict.";
  if (!tensor.starts_with(kState)) return false;
  tensor.remove_prefix(kState.size());
  return tensor.starts_with("fp32_flat_groups.") || tensor.starts_with("single_partition_of_fp32_groups.");
}

std::string_view words_of(ContentKind kind) {
  constexpr std::string_view kWords[] = {"nothing known",
                                         "the weights of a model",
                                         "the state of an optimizer",
                                         "the state of a scheduler",
                                         "states of random numbers",
                                         "extra state of a rank",
                                         "settings"};
  return kWords[static_cast<size_t>(kind)];
}

ContentKind kind_of_name(std::string_view name) {
  const std::string_view stem = name.substr(0, name.rfind('.'));
  const RankShard shard = rank_shard_of(stem);
  if (shard.of > 0) {
    if (stem.starts_with("model_world_size")) return ContentKind::kModel;
    if (stem.starts_with("optim_world_size")) return ContentKind::kOptimizer;
    return stem.starts_with("extra_state_world_size") ? ContentKind::kExtraState : ContentKind::kUnknown;
  }
  if (stem.ends_with("_optim_states")) return ContentKind::kOptimizer;
  if (stem.ends_with("_model_states")) return ContentKind::kModel;
  if (stem == "pytorch_model" || stem == "adapter_model" || stem.starts_with("pytorch_model-"))
    return ContentKind::kModel;
  if (stem == "optimizer") return ContentKind::kOptimizer;
  if (stem == "scheduler") return ContentKind::kScheduler;
  if (stem == "training_args" || stem == "trainer_state") return ContentKind::kSettings;
  return stem == "rng_state" || stem.starts_with("rng_state_") ? ContentKind::kRng : ContentKind::kUnknown;
}

FileContent content_of(const FileDirectory& directory) {
  using Format = FileDirectory::Format;
  FileContent out;
  for (const TensorPlace& tensor : directory.tensors) {
    out.bytes += tensor.bytes;
    const bool holds = std::all_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t size) { return size > 0; });
    out.moments += holds && !is_step_counter(tensor.name) ? 1 : 0;
    if (!is_partition(tensor.name)) continue;
    out.partition += numbers_in(tensor.shape);
    out.elsewhere = out.elsewhere || !holds;
  }
  if (directory.format == Format::kSafetensors || directory.format == Format::kUnknown) return out;
  out.kind = kind_of(directory.keys);
  return out;
}

}  // namespace mw
