#include "sense/checkpoints/zero_partition.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/content_kind.h"

namespace mw {
namespace {

constexpr uint64_t kManyNumbers = 1024;  // fewer are biases and the like, of which another rank may have none
constexpr uint64_t kFew = 64;            // numbers: less may be a bias, or padding alone

bool is_lost(const ManifestFile& file) {
  uint64_t numbers = 0;
  bool moments = false;
  for (const ManifestTensor& tensor : file.tensors) {
    if (is_partition(tensor.name)) {
      if (!tensor.zero && tensor.numbers > 0) return false;
      numbers += tensor.numbers;
    } else {
      moments = moments || (contains(tensor.name, "exp_avg") && !tensor.zero && tensor.numbers > 0);
    }
  }
  return numbers >= kFew && moments;
}

struct Rank {
  std::string_view path;
  double size = 0;  ///< root mean square of its numbers
};
/// Files that have a piece of each weight, by the folder and what their names have in common: of FSDP, and of ZeRO 3,
/// where each rank has a file of the model. (A rank of stage 1 or 2 has other weights than the next.)
std::map<std::string, std::vector<Rank>> ranks_with_pieces(const Examination& exam,
                                                           const std::vector<ManifestFile>& hashed) {
  constexpr std::string_view kOptimizer = "optim_states.pt", kModel = "_model_states.pt";
  std::map<std::string, std::vector<Rank>> out;
  for (const ManifestFile& file : hashed) {
    const std::string_view name = basename(file.path);
    WeightFigures of{file.numbers, file.norm};
    bool pieces = rank_shard_of(file.path).of > 1 && name.starts_with("model_");
    if (name.ends_with(kOptimizer)) {
      const size_t zero = name.find("zero_pp_rank_");
      const std::string_view own = name.substr(std::min(zero, name.size()));
      const std::string rank(own.substr(0, own.size() - std::min(own.size(), kOptimizer.size() + 1)));
      pieces = zero != std::string_view::npos && exam.tree().has(beside(file.path, cat(rank, kModel)));
      of = partition_figures(file);
    }
    if (pieces && of.numbers >= kManyNumbers && of.norm > 0)
      out[family_of(file.path)].push_back({file.path, of.norm / std::sqrt(static_cast<double>(of.numbers))});
  }
  return out;
}

/// A piece of each weight is as large as the other pieces of them: what is so far from them is no part of this model.
void look_for_strange_ranks(Examination& exam, const std::vector<ManifestFile>& hashed) {
  constexpr double kApart = 10;
  for (auto& [family, ranks] : ranks_with_pieces(exam, hashed)) {
    if (ranks.size() < 2) continue;
    std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) { return a.size < b.size; });
    const Rank& middle = ranks[(ranks.size() - 1) / 2];
    for (const Rank& one : ranks) {
      const bool larger = one.size > middle.size * kApart;
      if (middle.size <= 0 || (!larger && (ranks.size() < 3 || one.size * kApart > middle.size))) continue;
      exam.problem(Trouble::kUnlike, std::string(one.path),
                   cat("its numbers are ", format_short(one.size), " in size, and those of ", basename(middle.path),
                       " ", format_short(middle.size), ": each rank has a piece of every weight, so these are none"),
                   true, CheckDepth::kSane);
    }
  }
}

}  // namespace

WeightFigures partition_figures(const ManifestFile& file) {
  WeightFigures out;
  double squares = 0;
  for (const ManifestTensor& tensor : file.tensors) {
    if (!is_partition(tensor.name)) continue;
    out.numbers += tensor.numbers;
    squares += tensor.norm * tensor.norm;
  }
  out.norm = std::sqrt(squares);
  return out;
}

void look_for_zero_partitions(Examination& exam, const std::vector<ManifestFile>& hashed) {
  look_for_strange_ranks(exam, hashed);
  for (const ManifestFile& file : hashed) {
    if (!file.path.ends_with("_optim_states.pt") || !is_lost(file)) continue;
    exam.problem(Trouble::kUnlike, file.path,
                 "every number of the weights that this rank keeps is zero, and its moments are not: they were lost, "
                 "and a resume takes them from here",
                 true, CheckDepth::kSane);
  }
}

}  // namespace mw
