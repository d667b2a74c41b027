// HF: model.safetensors, or shards named by model.safetensors.index.json (of a variant
// model.safetensors.index.fp16.json); LoRA: adapter_model.safetensors beside
// adapter_config.json. (safetensors, README "Format"; transformers, utils/hub.py: the index.)
#include "base/json.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/weights_file.h"

namespace mw {
namespace {

constexpr size_t kIndexBytes = size_t{32} << 20;

/// The tensors of an index, by their shard.
class TensorsOfShards final : public JsonLeaves {
 public:
  std::map<std::string, std::set<std::string>> shards;
  std::optional<double> total;  ///< bytes of all of them, as it says
  void number(std::string_view path, double value) override {
    if (path == "metadata/total_size") total = value;
  }
  void string(std::string_view path, std::string_view value) override {
    constexpr std::string_view kMap = "weight_map/";
    if (path.starts_with(kMap) && kept_++ < kTensors) shards[std::string(value)].emplace(path.substr(kMap.size()));
  }

 private:
  size_t kept_ = 0;
};

void check_tensors(Examination& exam, const TreeFile& index, const std::string& text) {
  TensorsOfShards wanted;
  if (!for_each_leaf(text, wanted)) return;
  double bytes = 0;
  bool all = true;
  for (const auto& [name, tensors] : wanted.shards) {
    const TreeFile* const file = exam.tree().find(beside(index.path, name));
    if (file == nullptr) {
      all = false;
      continue;
    }
    const FileDirectory& directory = exam.directory(*file);
    all = all && directory.proven && !directory.clipped && !directory.tensors.empty();
    if (!directory.proven || directory.tensors.empty()) continue;
    for (const TensorPlace& tensor : directory.tensors) bytes += static_cast<double>(tensor.bytes);
    std::set<std::string_view> there;
    for (const TensorPlace& tensor : directory.tensors) there.insert(tensor.name);
    size_t missing = 0;
    const std::string* first = nullptr;
    for (const std::string& tensor : tensors) {
      if (there.count(tensor) != 0) continue;
      if (missing++ == 0) first = &tensor;
    }
    if (missing > 0) {
      exam.problem(Trouble::kContradicts, file->path,
                   cat(missing, " of the tensors that ", index.name(), " puts into it are not in it, the first is ",
                       clip(sanitize_utf8(*first), 120)));
    }
  }
  // Nothing that loads it reads that number, and some who write it count other than they save.
  constexpr double kMost = 9e15;
  const double total = wanted.total.value_or(bytes);
  if (all && total != bytes && total >= 0 && total < kMost && bytes < kMost)
    exam.problem(Trouble::kContradicts, index.path,
                 cat("it says that its tensors have ", static_cast<int64_t>(total), " bytes, and they have ",
                     static_cast<int64_t>(bytes), "; all that it names are there"),
                 false);
}

void examine_index(Examination& exam, const TreeFile& index) {
  exam.found_layout("safetensors, sharded");
  const auto text = exam.text(index, kIndexBytes);
  if (!text) return;
  const auto shards = shards_of_index(*text);
  if (!shards.ok())
    return exam.problem(index.bytes == 0 ? Trouble::kEmpty : Trouble::kDamaged, index.path, shards.error().what);
  require_named(exam, index, *shards, index.name());
  check_tensors(exam, index, *text);
}

void examine(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files) {
  bool any = false;
  for (const TreeFile* file : files) {
    const std::string_view name = file->name();
    if (is_shard_index(name, ".safetensors")) examine_index(exam, *file);
    if (!name.ends_with(".safetensors")) continue;
    any = true;
    if (name != "adapter_model.safetensors") continue;
    exam.found_layout("LoRA adapter");
    if (!exam.tree().single_file() && !exam.tree().has(in_folder(folder, "adapter_config.json")))
      exam.problem(Trouble::kMissing, in_folder(folder, "adapter_config.json"),
                   "it is missing, and the adapter cannot be loaded without it");
  }
  if (!any) return;
  exam.found_layout("safetensors");
  if (!exam.tree().single_file()) require_numbered(exam, folder, files, ".safetensors");
}

}  // namespace

namespace layouts {
extern const CheckpointFormat safetensors;
const CheckpointFormat safetensors{"safetensors", examine};
}  // namespace layouts

}  // namespace mw
