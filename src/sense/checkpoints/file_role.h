// What a file of a checkpoint is by its name: the one place that knows how frameworks name weights, optimizers and
// states.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mw {

enum class FileRole { kWeights, kOptimizer, kSettings, kUnknown };

/// What follows the last dot; "" without one.
std::string_view ending_of(std::string_view name);
/// By its name. Loaders', schedulers' and random generators' states are settings here: they are small and no weights.
FileRole role_of(std::string_view name);
/// Copies for others to use lie in folders of certain names ("huggingface", "export", …); nothing resumes from them.
bool is_export(std::string_view path);
/// Written by torch.save, which writes a zip archive, or of old a pickle: neither begins with zeros or is empty.
bool is_of_torch(std::string_view name);
/// By its ending: what torch.save writes has one of these, and `.bin` may be anything else.
bool may_be_of_torch(std::string_view name);
/// Names by which frameworks write an optimizer, a state or a rank's part with torch.save or pickle, and nothing else:
/// a trainer opens them by these names, and fails on anything but an archive of torch.save or a pickle.
bool is_pickle_by_name(std::string_view name);
/// Settings without which something cannot be loaded. Others may be logs: lines of JSON, or not at their end yet.
bool is_needed_json(std::string_view name);
/// A trainer, or who loads a model, opens it by that name.
bool is_needed(std::string_view name);
/// Names by which frameworks write weights and nothing else: an empty one was never written to its end.
bool is_weights_by_name(std::string_view name);

/// What desktops, editors, locks and network file systems leave in a folder: no part of a checkpoint.
bool is_no_part(std::string_view name);

/// "model.safetensors.index.json" for ".safetensors"; of a variant "model.safetensors.index.fp16.json".
bool is_shard_index(std::string_view name, std::string_view ending);

/// "model_world_size_4_rank_1.pt": which of how many; 0 of 0: its name does not say.
struct RankShard {
  int64_t of = 0, number = 0;
  std::string family;  ///< the name without its number
};
RankShard rank_shard_of(std::string_view path);

/// With '#' for each number: the same for shards, ranks and stages of one set, and for a tensor in each layer.
inline std::string family_of(std::string_view name) { return without_numbers(name); }

/// "dir/" + name for a `path` "dir/x"; name for one without a folder.
std::string beside(std::string_view path, std::string_view name);
/// "dir" of "dir/x", "" of "x".
std::string_view folder_in_tree(std::string_view path);

}  // namespace mw
