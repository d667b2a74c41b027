// torch.save: pytorch_model.bin, or shards named by pytorch_model.bin.index.json; model.pt, …
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/weights_file.h"

namespace mw {
namespace {

constexpr size_t kIndexBytes = size_t{32} << 20;

void examine(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files) {
  if (!exam.tree().single_file()) require_numbered(exam, folder, files, ".bin");
  for (const TreeFile* file : files) {
    const std::string_view name = file->name();
    if (is_shard_index(name, ".bin")) {
      exam.found_layout("torch.save, sharded");
      const auto text = exam.text(*file, kIndexBytes);
      if (!text) continue;
      const auto shards = shards_of_index(*text);
      if (shards.ok()) {
        require_named(exam, *file, *shards, name);
        examine_index_names(exam, *file, *text, false);
      } else {
        exam.problem(file->bytes == 0 ? Trouble::kEmpty : Trouble::kDamaged, file->path, shards.error().what);
      }
    }
    if (file->role != FileRole::kWeights || !(is_of_torch(name) || name.ends_with(".bin")) || name.ends_with(".distcp"))
      continue;
    if (rank_shard_of(name).of > 0 || contains(name, "mp_rank_")) continue;  // of another layout
    const FileDirectory& directory = exam.directory(*file);
    if (directory.bare && !exam.tree().single_file()) continue;  // settings: weights of another layout may be beside it
    if (directory.format == FileDirectory::Format::kTorchZip) exam.found_layout("torch.save");
    if (directory.format == FileDirectory::Format::kTorchLegacy) exam.found_layout("torch.save (legacy)");
  }
}

}  // namespace

namespace layouts {
extern const CheckpointFormat torch_index;
const CheckpointFormat torch_index{"torch.save", examine};
}  // namespace layouts

}  // namespace mw
