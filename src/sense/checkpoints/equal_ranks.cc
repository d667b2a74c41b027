#include "sense/checkpoints/equal_ranks.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/text.h"

namespace mw {
namespace {

struct Rank {
  const TreeFile* file = nullptr;
  const ManifestFile* hashed = nullptr;
};

struct Set {
  bool splits = false;  ///< whatever others are
  std::vector<Rank> ranks;
};

/// Which of a set of files that hold parts of the same weights it is one of; "": of none.
std::string set_of(const TreeFile& file, bool* splits) {
  const std::string_view name = file.name(), folder = folder_in_tree(file.path);
  const RankShard shard = rank_shard_of(file.path);
  if (shard.of > 1 && (name.starts_with("model") || name.starts_with("optim"))) return shard.family;
  constexpr std::string_view kZero = "zero_pp_rank_";
  const size_t zero = name.find(kZero), model = name.find("_mp_rank_");
  if (zero != std::string_view::npos && model != std::string_view::npos && name.ends_with("_optim_states.pt"))
    return cat(file.path.substr(0, file.path.size() - name.size()), name.substr(0, zero), "#", name.substr(model));
  constexpr std::string_view kTensor = "mp_rank_";  // then the tensor rank, "_", those of the pipeline and of experts
  const std::string_view own = basename(folder);
  *splits = own.starts_with(kTensor) && name == "model_optim_rng.pt";
  const size_t others = std::min(own.find('_', std::min(own.size(), kTensor.size())), own.size());
  return *splits ? cat(folder_in_tree(folder), "/#", own.substr(others), "/", name) : "";
}

bool has_matrix(Examination& exam, const TreeFile& file) {
  const auto& tensors = exam.directory(file).tensors;
  return std::any_of(tensors.begin(), tensors.end(), [](const TensorPlace& tensor) {
    return std::count_if(tensor.shape.begin(), tensor.shape.end(), [](int64_t size) { return size > 1; }) >= 2;
  });
}

void judge(Examination& exam, const Set& set) {
  std::vector<std::vector<Rank>> equal;
  std::map<std::pair<uint64_t, std::string>, size_t> by_hash;
  for (const Rank& rank : set.ranks) {
    const auto [at, fresh] = by_hash.emplace(std::pair(rank.hashed->xxh3, rank.hashed->xxh3_128), equal.size());
    if (fresh) equal.emplace_back();
    equal[at->second].push_back(rank);
  }
  const size_t first = equal.empty() ? 0 : equal.front().size();
  const bool alike = std::all_of(equal.begin(), equal.end(), [first](const auto& of) { return of.size() == first; });
  for (const std::vector<Rank>& of : equal) {
    if (of.size() < 2 || (alike && !set.splits) || (set.splits && !has_matrix(exam, *of.front().file))) continue;
    exam.problem(Trouble::kSameBytes, of.back().file->path,
                 cat("every byte of it is that of ", of.front().file->path,
                     ", and each rank has a part of its own: one was copied over the other"),
                 true, CheckDepth::kContent);
  }
}

}  // namespace

void look_for_equal_ranks(Examination& exam, const std::vector<ManifestFile>& hashed) {
  if (exam.tree().single_file()) return;
  std::map<std::string, Set> sets;
  for (const ManifestFile& one : hashed) {
    const TreeFile* const file = exam.tree().find(one.path);
    bool splits = false;
    const std::string name = file == nullptr || one.norm == 0 ? "" : set_of(*file, &splits);
    if (name.empty()) continue;
    sets[name].splits = splits;
    sets[name].ranks.push_back({file, &one});
  }
  for (const auto& [name, set] : sets) judge(exam, set);
}

}  // namespace mw
