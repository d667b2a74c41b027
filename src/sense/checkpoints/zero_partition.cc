#include "sense/checkpoints/zero_partition.h"

#include "base/text.h"
#include "sense/checkpoints/content_kind.h"

namespace mw {
namespace {

constexpr uint64_t kFew = 64;  // numbers: less may be a bias, or padding alone

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

}  // namespace

void look_for_zero_partitions(Examination& exam, const std::vector<ManifestFile>& hashed) {
  for (const ManifestFile& file : hashed) {
    if (!file.path.ends_with("_optim_states.pt") || !is_lost(file)) continue;
    exam.problem(Trouble::kUnlike, file.path,
                 "every number of the weights that this rank keeps is zero, and its moments are not: they were lost, "
                 "and a resume takes them from here",
                 true, CheckDepth::kSane);
  }
}

}  // namespace mw
