// What the index of a sharded model says of its tensors. Who loads it by its index opens the files that this names, and
// of these takes the tensors that this names (transformers, modeling_utils.py): the others begin with random numbers.
#include <algorithm>
#include <map>
#include <set>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/tensor_scan.h"
#include "sense/checkpoints/weights_file.h"

namespace mw {
namespace {

/// The tensors of an index, by their shard.
class TensorsOfShards final : public JsonLeaves {
 public:
  std::map<std::string, std::set<std::string>> shards;
  std::optional<double> total;  ///< bytes of all of them, as it says
  bool whole() const { return kept_ <= kTensors; }
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

/// The first number in it, which is that of its layer; -1: there is none.
int64_t layer_in(std::string_view name) {
  while (true) {
    const size_t dot = name.find('.');
    if (const auto number = parse_int(name.substr(0, dot)); number && *number >= 0) return *number;
    if (dot == std::string_view::npos) return -1;
    name.remove_prefix(dot + 1);
  }
}

/// Layers of which it names a tensor of that kind: the highest, by family.
std::map<std::string, int64_t> layers_named(const TensorsOfShards& index) {
  std::map<std::string, int64_t> highest;
  for (const auto& [shard, tensors] : index.shards) {
    for (const std::string& name : tensors) {
      if (const int64_t layer = layer_in(name); layer >= 0) {
        const auto known = highest.emplace(family_of(name), layer).first;
        known->second = std::max(known->second, layer);
      }
    }
  }
  return highest;
}

/// What follows its number in "model-00002-of-00004.safetensors"; "" of other names.
std::string_view shard_set_of(std::string_view name) {
  const size_t of = name.rfind("-of-");
  return of == std::string_view::npos ? std::string_view() : name.substr(of);
}

/// A shard of the same set of which it names nothing.
void look_for_unnamed_shards(Examination& exam, const TreeFile& index, const TensorsOfShards& wanted) {
  for (const TreeFile& file : exam.tree().files()) {
    if (folder_in_tree(file.path) != folder_in_tree(index.path) || shard_set_of(file.name()).empty()) continue;
    const auto is_like = [&file](const auto& one) {
      return family_of(one.first) == family_of(file.name()) && shard_set_of(one.first) == shard_set_of(file.name());
    };
    const bool named = wanted.shards.count(std::string(file.name())) != 0;
    if (named || std::none_of(wanted.shards.begin(), wanted.shards.end(), is_like)) continue;
    exam.problem(Trouble::kUnlike, file.path,
                 cat(index.name(),
                     " puts no tensor into it: what loads them by that index never opens it, and fills "
                     "what lies in it with random numbers"));
  }
}

/// Weights that a shard has and it does not name, of a kind of which it names those of further layers. (What it names
/// of no layer, or of none so far, is left out on purpose at times: layers that only a training has.)
void look_for_unnamed_tensors(Examination& exam, const TreeFile& index, const TensorsOfShards& wanted) {
  const std::map<std::string, int64_t> highest = layers_named(wanted);
  std::set<std::string_view> all;
  for (const auto& [shard, tensors] : wanted.shards) all.insert(tensors.begin(), tensors.end());
  size_t unnamed = 0;
  std::string first, in;
  for (const auto& [shard, tensors] : wanted.shards) {
    const TreeFile* const file = exam.tree().find(beside(index.path, shard));
    if (file == nullptr) continue;
    for (const TensorPlace& tensor : exam.directory(*file).tensors) {
      const bool weight = tensor.name.ends_with(".weight") || tensor.name.ends_with(".bias");
      if (!weight || !has_point(tensor.dtype) || all.count(tensor.name) != 0) continue;
      const auto known = highest.find(family_of(tensor.name));
      if (known == highest.end() || layer_in(tensor.name) >= known->second) continue;
      if (++unnamed == 1) in = file->path;
      if (unnamed == 1) first = tensor.name;
    }
  }
  if (unnamed == 0) return;
  exam.problem(
      Trouble::kUnlike, index.path,
      cat("it does not name ", unnamed, unnamed == 1 ? " tensor" : " tensors", " of the shards, the first is ",
          clip(sanitize_utf8(first), 120), " in ", in, ": what loads them by it fills that with random numbers"));
}

/// Each tensor that it names is in the file that it says.
void check_tensors(Examination& exam, const TreeFile& index, const TensorsOfShards& wanted) {
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

}  // namespace

void examine_index_names(Examination& exam, const TreeFile& index, const std::string& text, bool all_listed) {
  TensorsOfShards wanted;
  if (!for_each_leaf(text, wanted)) return;
  if (all_listed) check_tensors(exam, index, wanted);
  if (!wanted.whole() || exam.tree().single_file()) return;
  look_for_unnamed_shards(exam, index, wanted);
  look_for_unnamed_tensors(exam, index, wanted);
}

std::set<std::string> names_of_index(const std::string& text) {
  TensorsOfShards wanted;
  std::set<std::string> out;
  if (!for_each_leaf(text, wanted) || !wanted.whole()) return out;
  for (auto& [shard, tensors] : wanted.shards) out.merge(tensors);
  return out;
}

}  // namespace mw
