#include "sense/checkpoints/own_config.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/tensor_scan.h"

namespace mw {
namespace {

constexpr size_t kConfigBytes = size_t{1} << 20;

std::optional<Json> settings_in(Examination& exam, const TreeFile& config) {
  const auto text = exam.text(config, kConfigBytes);
  auto json = text ? Json::parse(*text) : Result<Json>(Error{});
  return json.ok() && json->is_object() ? std::optional(std::move(*json)) : std::nullopt;
}

/// The files of weights beside it whose names begin so. Nothing where one of them could not be read to its end.
std::vector<const FileDirectory*> weights_beside(Examination& exam, const TreeFile& config,
                                                 std::initializer_list<std::string_view> names, std::string* first) {
  std::vector<const FileDirectory*> out;
  for (const TreeFile& file : exam.tree().files()) {
    const bool wanted =
        std::any_of(names.begin(), names.end(), [&](auto name) { return file.name().starts_with(name); });
    if (!wanted || file.role != FileRole::kWeights || folder_in_tree(file.path) != folder_in_tree(config.path))
      continue;
    const FileDirectory& directory = exam.directory(file);
    if (!directory.proven || directory.clipped || directory.tensors.empty()) return {};
    if (first->empty()) *first = file.path;
    out.push_back(&directory);
  }
  return out;
}

int64_t layers_of(const Json& config) {
  for (const char* const name : {"num_hidden_layers", "n_layer"}) {
    if (const int64_t layers = config.integer_or(name, 0); layers > 0) return layers;
  }
  const Json* const text = config.find("text_config");
  return text != nullptr && text->is_object() ? text->integer_or("num_hidden_layers", 0) : 0;
}

/// What the names of a whole model's tensors say.
struct Layers {
  std::map<std::string_view, std::set<int64_t>> of;  ///< by what stands before the number
  bool embedding = false, end = false;               ///< its first and its last part are there
  void add_end(std::string_view name) {
    embedding = embedding || name.ends_with("embed_tokens.weight") || name.ends_with("wte.weight");
    end = end || name == "model.norm.weight" || name.ends_with("language_model.norm.weight") ||
          name.ends_with("language_model.model.norm.weight") || name.ends_with("ln_f.weight") ||
          name.ends_with("lm_head.weight");
  }
  void add(std::string_view name) {
    add_end(name);
    constexpr std::array<std::string_view, 5> kBefore = {"model.layers.", "transformer.h.",
                                                         "model.language_model.layers.", "language_model.model.layers.",
                                                         "model.decoder.layers."};
    for (const std::string_view before : kBefore) {
      if (!name.starts_with(before)) continue;
      const std::string_view rest = name.substr(before.size());
      if (const auto number = parse_int(rest.substr(0, rest.find('.'))); number && *number >= 0)
        of[before].insert(*number);
    }
  }
};

/// The tensors that the index beside it names; none: there is no index.
std::set<std::string> named_beside(Examination& exam, const TreeFile& config, std::string* index) {
  constexpr size_t kIndexBytes = size_t{32} << 20;
  for (const TreeFile& file : exam.tree().files()) {
    const bool is_index = is_shard_index(file.name(), ".safetensors") || is_shard_index(file.name(), ".bin");
    if (!is_index || folder_in_tree(file.path) != folder_in_tree(config.path)) continue;
    const auto text = exam.text(file, kIndexBytes);
    *index = file.name();
    return text ? names_of_index(*text) : std::set<std::string>();
  }
  return {};
}

void look_at_layers(Examination& exam, const TreeFile& config) {
  const auto json = settings_in(exam, config);
  const int64_t stated = json ? layers_of(*json) : 0;
  if (stated <= 0 || json->find("block_configs") != nullptr) return;  // some of those layers hold nothing
  std::string first;
  const auto files = weights_beside(exam, config, {"model", "pytorch_model"}, &first);
  std::string index;
  const std::set<std::string> named = named_beside(exam, config, &index);
  Layers layers;
  for (const FileDirectory* file : files) {
    for (const TensorPlace& tensor : file->tensors) {
      const bool loaded = named.empty() || named.count(tensor.name) != 0;
      loaded ? layers.add(tensor.name) : layers.add_end(tensor.name);
    }
  }
  if (!layers.embedding || !layers.end || layers.of.size() != 1) return;
  const std::set<int64_t>& there = layers.of.begin()->second;
  const auto below = static_cast<int64_t>(std::distance(there.begin(), there.lower_bound(stated)));
  if (below >= stated || exam.broken()) return;
  int64_t missing = 0;
  while (there.count(missing) != 0) ++missing;
  exam.problem(Trouble::kUnlike, first,
               cat(named.empty() ? "it has " : cat("it has, as far as ", index, " names them, "), below, " of the ",
                   stated, " layers that ", config.path, " states, and not layer ", missing,
                   ": what loads it fills that with random numbers"));
}

/// Of the part that makes text.
int64_t size_in(const Json& config, const char* name) {
  const Json* const text = config.find("text_config");
  const int64_t own = config.integer_or(name, 0);
  return own > 0 || text == nullptr || !text->is_object() ? own : text->integer_or(name, 0);
}

/// Words and inner width of a whole model: worth knowing, as some models have settings by which they differ. An
/// embedding may have more rows than words.
void look_at_sizes(Examination& exam, const TreeFile& config) {
  const auto json = settings_in(exam, config);
  if (!json || exam.broken()) return;
  const int64_t words = size_in(*json, "vocab_size"), inner = size_in(*json, "intermediate_size");
  std::string first;
  int64_t rows = 0, width = 0;
  bool has_inner = false;
  for (const FileDirectory* file : weights_beside(exam, config, {"model", "pytorch_model"}, &first)) {
    for (const TensorPlace& tensor : file->tensors) {
      if (tensor.shape.size() != 2 || !has_point(tensor.dtype)) continue;
      if (tensor.name.ends_with("embed_tokens.weight")) rows = std::max(rows, tensor.shape[0]);
      if (!tensor.name.ends_with(".mlp.down_proj.weight")) continue;
      width = std::max(width, tensor.shape[1]);
      has_inner = has_inner || tensor.shape[1] == inner || tensor.shape[0] == inner;
    }
  }
  const auto report = [&](std::string_view what, int64_t has, std::string_view name, int64_t states) {
    exam.problem(Trouble::kUnlike, first,
                 cat(what, has, ", and ", config.path, " states ", name, " ", states,
                     ": one of them is of another "
                     "model, or was changed"),
                 false);
  };
  if (rows > 0 && words > rows) report("the rows of its embedding are ", rows, "vocab_size", words);
  if (width > 0 && inner > 0 && !has_inner)
    report("the inner width of its layers is ", width, "intermediate_size", inner);
}

void look_at_adapter(Examination& exam, const TreeFile& config) {
  const auto json = settings_in(exam, config);
  const int64_t rank = json ? json->integer_or("r", 0) : 0;
  if (rank <= 0 || to_lower(json->string_or("peft_type", "")) != "lora") return;
  // Settings by which some, or all, have other ranks.
  for (const char* const name : {"rank_pattern", "target_parameters", "layer_replication", "megatron_config"}) {
    const Json* const set = json->find(name);
    const bool empty = set == nullptr || (set->members().empty() && set->items().empty() && set->string().empty());
    if (!empty) return;
  }
  std::string first;
  std::string_view odd;
  int64_t has = 0;
  for (const FileDirectory* file : weights_beside(exam, config, {"adapter_model"}, &first)) {
    for (const TensorPlace& tensor : file->tensors) {
      if (!contains(tensor.name, "lora_A.") || tensor.shape.size() != 2) continue;
      if (tensor.shape[0] == rank || tensor.shape[1] == rank) return;
      if (odd.empty()) has = tensor.shape[0];
      if (odd.empty()) odd = tensor.name;
    }
  }
  if (odd.empty()) return;
  exam.problem(Trouble::kUnlike, first,
               cat(clip(sanitize_utf8(odd), 200), " has rank ", has, ", and ", config.path, " states r = ", rank,
                   ": they are of different adapters, and nothing loads them together"));
}

}  // namespace

void look_at_own_config(Examination& exam, const TreeFile& config) {
  if (config.name() == "config.json") {
    look_at_layers(exam, config);
    look_at_sizes(exam, config);
  }
  if (config.name() == "adapter_config.json") look_at_adapter(exam, config);
}

}  // namespace mw
