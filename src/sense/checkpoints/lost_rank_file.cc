#include "sense/checkpoints/lost_rank_file.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/text.h"

namespace mw {
namespace {

bool is_of_rank(const TreeFile& file) {
  const std::string_view name = file.name();
  if (is_export(file.path) || rank_shard_of(file.path).of > 0 || !may_be_of_torch(name)) return false;
  return name.starts_with("adapter_tp") || name.starts_with("pytorch_model_fsdp_rank") ||
         name.starts_with("optimizer_rank");
}

/// By names in which each rank has a number: "__1_0.distcp", "rng_state_1.pth".
std::string number_of_rank(std::string_view name) {
  for (const std::string_view begin : {"__", "rng_state_"}) {
    if (!name.starts_with(begin)) continue;
    const std::string_view rest = name.substr(begin.size());
    const std::string_view number = rest.substr(0, rest.find_first_not_of("0123456789"));
    return number.empty() ? "" : cat(begin, number);
  }
  return "";
}

/// So many ranks saved here, as other files show.
size_t ranks_that_saved(const CheckpointTree& tree) {
  std::map<std::string_view, std::set<std::string>> by_folder;
  for (const TreeFile& file : tree.files()) {
    if (const std::string number = number_of_rank(file.name()); !number.empty())
      by_folder[folder_in_tree(file.path)].insert(number);
  }
  size_t most = 0;
  for (const auto& [folder, numbers] : by_folder) most = std::max(most, numbers.size());
  return most;
}

}  // namespace

void look_for_lost_rank_files(Examination& exam, const std::string& other) {
  const CheckpointTree& tree = exam.tree();
  std::set<std::string> own;  // families
  for (const TreeFile& file : tree.files()) {
    if (is_of_rank(file)) own.insert(family_of(file.path));
  }
  if (own.empty() || other.empty()) return;
  const auto beside = CheckpointTree::read(exam.disk(), other);
  if (!beside.ok()) return;
  std::map<std::string, std::vector<const TreeFile*>> theirs;
  for (const TreeFile& file : beside->files()) {
    if (is_of_rank(file)) theirs[family_of(file.path)].push_back(&file);
  }
  const size_t saved = ranks_that_saved(tree);
  for (const auto& [family, files] : theirs) {
    if (own.count(family) == 0) continue;
    for (const TreeFile* const file : files) {
      const auto known = [file](const CheckpointProblem& one) { return one.path == file->path; };
      if (tree.has(file->path) || std::any_of(exam.problems().begin(), exam.problems().end(), known)) continue;
      const bool sure = saved >= files.size();
      exam.problem(Trouble::kMissing, file->path,
                   cat("it is missing, and ", basename(other),
                       " has it: ", sure ? "as many ranks saved here" : "it was lost, or fewer ranks saved here"),
                   sure);
    }
  }
}

}  // namespace mw
