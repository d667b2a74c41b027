// HF: model.safetensors, or shards named by model.safetensors.index.json (of a variant
// model.safetensors.index.fp16.json); LoRA: adapter_model.safetensors beside
// adapter_config.json. (safetensors, README "Format"; transformers, utils/hub.py: the index.)
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/weights_file.h"

namespace mw {
namespace {

constexpr size_t kIndexBytes = size_t{32} << 20;

void examine_index(Examination& exam, const TreeFile& index) {
  exam.found_layout("safetensors, sharded");
  const auto text = exam.text(index, kIndexBytes);
  if (!text) return;
  const auto shards = shards_of_index(*text);
  if (!shards.ok())
    return exam.problem(index.bytes == 0 ? Trouble::kEmpty : Trouble::kDamaged, index.path, shards.error().what);
  require_named(exam, index, *shards, index.name());
  examine_index_names(exam, index, *text, true);
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
