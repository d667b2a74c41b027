#include "sense/checkpoints/file_role.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/one_of.h"
#include "base/text.h"

namespace mw {

std::string_view ending_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

FileRole role_of(std::string_view name) {
  constexpr std::array<std::string_view, 11> kWeightEndings = {"safetensors", "pt",  "pth", "bin",     "distcp", "ckpt",
                                                               "npz",         "npy", "h5",  "msgpack", "gguf"};
  constexpr std::array<std::string_view, 15> kSettingEndings = {"json", "jsonl", "txt",   "md",       "yaml",
                                                                "yml",  "jinja", "model", "py",       "toml",
                                                                "log",  "csv",   "vocab", "metadata", "merges"};
  constexpr std::array<std::string_view, 9> kStates = {
      "common.pt",         "data.pt",     "trainer_state.pt",     "scheduler.pt", "scaler.pt",
      "training_args.bin", "progress.pt", "fully_async_state.pt", "dataloader.pt"};
  constexpr std::array<std::string_view, 6> kStatePrefixes = {"rng_state",  "extra_state",      "random_states",
                                                              "dataloader", "train_dataloader", "global_dataset_state"};
  if (is_one_of(ending_of(name), kSettingEndings)) return FileRole::kSettings;
  if (!is_one_of(ending_of(name), kWeightEndings)) return FileRole::kUnknown;
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  if (is_one_of(name, kStates) || std::any_of(kStatePrefixes.begin(), kStatePrefixes.end(), begins))
    return FileRole::kSettings;
  return begins("optim") || contains(name, "optim_states") ? FileRole::kOptimizer : FileRole::kWeights;
}

bool is_export(std::string_view path) {
  constexpr std::array<std::string_view, 8> kExports = {"huggingface", "hf",       "hf_model", "hf_export",
                                                        "export",      "exported", "best",     "best_model"};
  for (size_t from = 0, end = path.find('/'); end != std::string_view::npos; from = end + 1, end = path.find('/', from))
    if (is_one_of(path.substr(from, end - from), kExports)) return true;
  return false;
}

bool is_of_torch(std::string_view name) {
  const std::string_view ending = ending_of(name);
  if (ending == "pt" || ending == "pth" || ending == "ckpt" || ending == "distcp") return true;
  return ending == "bin" && (name.starts_with("pytorch_model") || name.starts_with("adapter_model"));
}

bool may_be_of_torch(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEndings = {"pt", "pth", "ckpt", "bin"};
  return is_one_of(ending_of(name), kEndings);
}

bool is_pickle_by_name(std::string_view name) {
  constexpr std::array<std::string_view, 6> kBins = {"optimizer", "scheduler",     "sampler",
                                                     "scaler",    "training_args", "dl_state_dict"};  // of accelerate
  constexpr std::array<std::string_view, 4> kPickles = {"dataloader_info", "random_states", "rng_state",
                                                        "custom_checkpoint"};
  const std::string_view ending = ending_of(name),
                         stem = name.substr(0, name.size() - std::min(name.size(), ending.size() + 1));
  if (ending == "bin") return is_one_of(stem.substr(0, stem.find_last_not_of("0123456789_") + 1), kBins);
  if (ending == "pkl")
    return std::any_of(kPickles.begin(), kPickles.end(),
                       [stem](std::string_view one) { return stem.starts_with(one); });
  if (ending != "pt" && ending != "pth") return false;
  return role_of(name) != FileRole::kWeights || rank_shard_of(name).of > 0 || name.ends_with("_states.pt") ||
         name == "model_optim_rng.pt" || name == "distrib_optim.pt" || name.starts_with("scheduler");
}

bool is_needed_json(std::string_view name) {
  constexpr std::array<std::string_view, 12> kParts = {"config", ".index.", "index.json", "token",
                                                       "vocab",  "state",   "info",       "metadata",
                                                       "metric", "merges",  "contents",   "template"};
  return std::any_of(kParts.begin(), kParts.end(), [name](std::string_view part) { return contains(name, part); });
}

bool is_needed(std::string_view name) {
  const FileRole role = role_of(name);
  return role == FileRole::kWeights || role == FileRole::kOptimizer ||
         (ending_of(name) == "json" && is_needed_json(name)) || is_pickle_by_name(name);
}

bool is_weights_by_name(std::string_view name) {
  constexpr std::array<std::string_view, 7> kStems = {"model",    "pytorch_model", "adapter_model",     "consolidated",
                                                      "mp_rank_", "zero_pp_rank_", "bf16_zero_pp_rank_"};
  const auto begins = [name](std::string_view stem) { return name.starts_with(stem); };
  return std::any_of(kStems.begin(), kStems.end(), begins) &&
         (ending_of(name) == "safetensors" || is_of_torch(name) || name.ends_with("_states.pt"));
}

bool is_no_part(std::string_view name) {
  return name.starts_with("._") || name == ".DS_Store" || name == "Thumbs.db" || name.starts_with(".nfs") ||
         name.ends_with(".lock") || name.ends_with("~");
}

bool is_shard_index(std::string_view name, std::string_view ending) {
  return name.ends_with(".json") && contains(name, cat(ending, ".index."));
}

RankShard rank_shard_of(std::string_view path) {
  constexpr std::string_view kSize = "world_size_", kRank = "_rank_";
  const size_t size = path.rfind(kSize), rank = path.rfind(kRank);
  if (size == std::string_view::npos || rank == std::string_view::npos || rank < size) return {};
  const auto of = parse_int(path.substr(size + kSize.size(), rank - size - kSize.size()));
  size_t end = rank + kRank.size();
  while (end < path.size() && path[end] >= '0' && path[end] <= '9') ++end;
  const auto number = parse_int(path.substr(rank + kRank.size(), end - rank - kRank.size()));
  if (!of || !number || *of < 1 || *number < 0 || *number >= *of) return {};
  return {*of, *number, cat(path.substr(0, rank + kRank.size()), "#", path.substr(end))};
}

std::string beside(std::string_view path, std::string_view name) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string(name) : cat(path.substr(0, slash + 1), name);
}

std::string_view folder_in_tree(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace mw
