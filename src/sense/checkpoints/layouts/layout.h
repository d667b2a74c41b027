// How checkpoints are laid out: one file of this folder each. A layout is recognised in a folder of the tree by the
// files there and says which others there must be; a framework, by the whole tree, says what its trainer needs to
// resume.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sense/checkpoints/examination.h"

namespace mw {

struct CheckpointFormat {
  std::string_view name;
  /// Looks for its files in `folder` ("" is the checkpoint itself), whose files are `files`, and puts what it finds
  /// into the examination. Nothing where there are none of its own.
  void (*examine)(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files);
};
std::span<const CheckpointFormat* const> all_formats();

struct CheckpointFramework {
  std::string_view name;
  /// Is it a checkpoint of that framework, by its tree and its name?
  bool (*is_here)(const CheckpointTree& tree);
  /// What its trainer needs that is there and that is not.
  void (*examine)(Examination& exam);
};
/// The first that fits is it.
std::span<const CheckpointFramework* const> all_frameworks();

/// The step in the name of a checkpoint's folder as any of the frameworks writes it ("global_step_40", "checkpoint-40",
/// "iter_0000040", "epoch0epochstep3globalstep40"); kNoStep for another name.
int64_t step_of_name(std::string_view name);

/// Names of layouts, without those that another one says more precisely.
std::vector<std::string> most_precise(std::set<std::string> layouts);

// ---- for layouts
/// `folder` + "/" + name; name in the checkpoint itself.
std::string in_folder(std::string_view folder, std::string_view name);
/// Each file in `names` must be there, beside `by` and because of it. How many are.
size_t require_named(Examination& exam, const TreeFile& by, const std::vector<std::string>& names,
                     std::string_view what);
/// What an index (`text`) names, against the shards that are there: shards of the same set and weights of layers that
/// it does not name; `all_listed`: and those that it names and are not in their shard.
void examine_index_names(Examination& exam, const TreeFile& index, const std::string& text, bool all_listed);
/// The tensors that an index names; none where they are more than are kept.
std::set<std::string> names_of_index(const std::string& text);
/// "model-00002-of-00004.safetensors": all four must be there, and an index, which says what is in which.
void require_numbered(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files,
                      std::string_view ending);
/// All files of a family of ranks ("…_rank_0.pt" of 2) must be there and agree on these numbers of their pickles.
void require_same_numbers(Examination& exam, const std::vector<const TreeFile*>& files,
                          std::span<const std::string_view> numbers);
/// Files by the number of that name that each has: there must be one only.
void require_one_value(Examination& exam, const std::map<int64_t, std::vector<const TreeFile*>>& by_value,
                       std::string_view name);
/// By the name that torch.save put into each of these files, which names of ranks are: it is not another rank's. What
/// all ranks may share (`shared`) is worth knowing only.
void require_own_rank(Examination& exam, const std::vector<const TreeFile*>& files, bool shared);
/// The optimizers of `files` hold the same parameters, or parts of each: they must have made as many steps. Counters of
/// the same name are compared; whoever has none is left out.
void require_same_steps(Examination& exam, const std::vector<const TreeFile*>& files);

}  // namespace mw
