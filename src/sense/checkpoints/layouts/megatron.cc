// Megatron-LM: distributed checkpoints (common.pt, metadata.json, then torch_dist's .metadata and *.distcp, or zarr's
// folders), and the older mp_rank_XX[_YYY]/model_optim_rng.pt.
// (megatron/core/dist_checkpointing; megatron/training/checkpointing.py.)
#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/rank_names.h"

namespace mw {
namespace {

constexpr std::array<std::string_view, 1> kIteration = {"iteration"};

void note_common(Examination& exam, const TreeFile& common) {
  const FileDirectory& directory = exam.directory(common);
  if (directory.numbers.count("iteration") != 0) exam.has(Piece::kStep);
  for (const std::string& key : directory.keys) {
    if (key.starts_with("optimizer")) exam.has(Piece::kOptimizer);
    if (key.starts_with("opt_param_scheduler")) exam.has(Piece::kScheduler);
    if (key.starts_with("rng_state")) exam.has(Piece::kRng);
  }
}

void examine_distributed(Examination& exam, const std::string& folder, const TreeFile* common,
                         const TreeFile* metadata) {
  if (metadata == nullptr) {
    exam.problem(Trouble::kMissing, in_folder(folder, "metadata.json"),
                 "it is missing: it is written last, beside common.pt");
    return;
  }
  const auto text = exam.text(*metadata, 1 << 20);
  const auto json = text ? Json::parse(*text) : Result<Json>(Error{});
  if (!json.ok() || !json->is_object()) return;  // the check of all JSON files says so
  const std::string backend = json->string_or("sharded_backend", "");
  if (backend.empty()) return;
  exam.found_layout(cat("Megatron ", clip(sanitize_utf8(backend), 40)));
  if (common == nullptr) {
    exam.problem(Trouble::kMissing, in_folder(folder, "common.pt"),
                 "it is missing, and the checkpoint cannot be loaded without it");
  }
  if (backend == "torch_dist" && !exam.tree().has(in_folder(folder, ".metadata")))
    exam.problem(Trouble::kMissing, in_folder(folder, ".metadata"),
                 "it is missing, and metadata.json says that the tensors are in torch_dist format");
}

/// verl saves model, optimizer and the rest of one role as distributed checkpoints of their own: all of one iteration.
/// Once, with the first of them. A part of Megatron-LM's that says iteration 0 was written without one (NeMo-RL).
void require_same_iteration(Examination& exam, const TreeFile& common) {
  const auto role_of_path = [](std::string_view path) { return path.substr(0, path.find('/')); };
  std::map<int64_t, std::vector<const TreeFile*>> by_value;
  bool first = true;
  for (const TreeFile& file : exam.tree().files()) {
    if (file.name() != "common.pt" || role_of_path(file.path) != role_of_path(common.path)) continue;
    if (std::exchange(first, false) && &file != &common) return;
    const auto& numbers = exam.directory(file).numbers;
    const auto found = numbers.find("iteration");
    if (found != numbers.end() && found->second > 0) by_value[found->second].push_back(&file);
  }
  require_one_value(exam, by_value, "iteration");
}

/// Of one pipeline stage: the process that wrote a file (`args.rank`) is a higher one for a higher tensor rank, however
/// Megatron lays out the others. Programs that convert checkpoints write one number for all.
void require_ranks_in_order(Examination& exam, const std::vector<const TreeFile*>& files) {
  std::map<int64_t, std::pair<int64_t, const TreeFile*>> writers;  // by tensor rank
  for (const TreeFile* file : files) {
    const std::string_view folder = basename(folder_in_tree(file->path));
    const auto place = megatron_rank_of(folder);
    const auto& numbers = exam.directory(*file).numbers;
    const auto rank = numbers.find("args.rank");
    if (!place || rank == numbers.end()) return;
    if (!writers.emplace(place->tensor, std::pair(rank->second, file)).second)
      return;  // experts have files of their own
  }
  for (auto one = writers.begin(); one != writers.end() && std::next(one) != writers.end(); ++one) {
    const auto& [before, first] = one->second;
    const auto& [after, second] = std::next(one)->second;
    if (after >= before) continue;
    return exam.problem(
        Trouble::kSameBytes, second->path,
        cat("rank ", after, " wrote it, and rank ", before, " wrote ", first->path, ": files of ranks were exchanged"));
  }
}

/// Every folder of ranks has the files that the others have, and no rank between the first and the last is missing.
void examine_ranks(Examination& exam, const std::string& folder) {
  std::map<std::string, std::vector<const TreeFile*>> by_name;
  std::set<std::pair<int64_t, int64_t>> ranks;
  std::map<std::pair<int64_t, std::string>, std::vector<const TreeFile*>> same_layers;  // of one pipeline stage
  std::vector<std::string> folders;
  const std::string prefix = folder.empty() ? "mp_rank_" : cat(folder, "/mp_rank_");
  for (auto below = exam.tree().folders().lower_bound(prefix);
       below != exam.tree().folders().end() && below->first.starts_with(prefix); ++below) {
    const std::string_view name = std::string_view(below->first).substr(folder.empty() ? 0 : folder.size() + 1);
    const auto rank = megatron_rank_of(name);
    if (!rank || name.find('/') != std::string_view::npos) continue;
    ranks.emplace(rank->tensor, rank->pipeline);
    folders.push_back(below->first);
    for (const size_t number : below->second) {
      const TreeFile& file = exam.tree().files()[number];
      by_name[std::string(file.name())].push_back(&file);
      same_layers[{rank->pipeline, std::string(file.name())}].push_back(&file);
    }
  }
  if (folders.empty()) return;
  exam.found_layout("Megatron ranks");
  int64_t tensors = 0, pipelines = 0;
  for (const auto& [tensor, pipeline] : ranks) {
    tensors = std::max(tensors, tensor + 1);
    pipelines = std::max(pipelines, pipeline + 1);
  }
  if (const auto model = by_name.find("model_optim_rng.pt"); model != by_name.end()) {
    const FileDirectory& directory = exam.directory(*model->second.front());
    const auto number = directory.numbers.find("args.tensor_model_parallel_size");
    if (number != directory.numbers.end()) tensors = std::max(tensors, std::min<int64_t>(number->second, 100'000));
    if (directory.keys.count("optimizer") != 0) exam.has(Piece::kOptimizer);
    if (directory.keys.count("opt_param_scheduler") != 0) exam.has(Piece::kScheduler);
    if (directory.keys.count("rng_state") != 0) exam.has(Piece::kRng);
    if (directory.numbers.count("iteration") != 0) exam.has(Piece::kStep);
    require_same_numbers(exam, model->second, kIteration);
    for (const auto& [stage, of] : same_layers) {
      if (stage.second == model->first) require_ranks_in_order(exam, of);
    }
  }
  if (by_name.count("distrib_optim.pt") != 0) exam.has(Piece::kOptimizer);
  for (const auto& [stage, of] : same_layers) require_same_steps(exam, of);
  const int64_t wanted = tensors * pipelines;
  if (static_cast<int64_t>(ranks.size()) < wanted) {
    exam.problem(Trouble::kMissing, in_folder(folder, "mp_rank_*"),
                 cat("of ", tensors, " x ", pipelines, " ranks of tensors and pipeline ", ranks.size(), " are there"));
  }
  for (const auto& [name, files] : by_name) {
    if (files.size() >= folders.size()) continue;
    for (const std::string& one : folders) {
      if (!exam.tree().has(in_folder(one, name)))
        exam.problem(Trouble::kMissing, in_folder(one, name), "it is missing, and other ranks have it");
    }
  }
}

void examine(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files) {
  const TreeFile* common = nullptr;
  const TreeFile* metadata = nullptr;
  bool distributed = false;
  for (const TreeFile* file : files) {
    if (file->name() == "common.pt") common = file;
    if (file->name() == "metadata.json") metadata = file;
    distributed = distributed || file->name().ends_with(".distcp");
  }
  if (common != nullptr) note_common(exam, *common);
  if (common != nullptr && !folder.empty()) require_same_iteration(exam, *common);
  if (common != nullptr || (metadata != nullptr && distributed)) {
    examine_distributed(exam, folder, common, metadata);
    if (common != nullptr && exam.layouts().empty()) exam.found_layout("Megatron");
  } else if (basename(folder).starts_with("mp_rank_")) {
    const std::string above(folder_in_tree(folder));
    // Once for all folders of ranks: with the first of them.
    const std::string prefix = in_folder(above, "mp_rank_");
    if (exam.tree().folders().lower_bound(prefix)->first == folder) examine_ranks(exam, above);
  }
}

}  // namespace

namespace layouts {
extern const CheckpointFormat megatron;
const CheckpointFormat megatron{"Megatron", examine};
}  // namespace layouts

}  // namespace mw
