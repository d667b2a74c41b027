// prime-rl's tree: step_N/{trainer,orchestrator} of RL, step_N/trainer of SFT (trainer/ckpt.py).
#include <algorithm>

#include "base/text.h"
#include "sense/checkpoints/deep_read.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/layouts/support.h"

namespace mw {
namespace {

bool is_prime_rl(const CheckpointTree& tree) {
  return named(tree, "step_") && !tree.has_folder("policy") &&
         (tree.has_folder("orchestrator") || tree.has("trainer/.metadata") || tree.has_folder("trainer"));
}

/// It saves {"app": {"progress": {"step": N, …}, …}}, which torch flattens: "app.progress.step", or of old the dict.
void require_own_progress(Examination& exam) {
  for (const auto& [path, items] : exam.items()) {
    for (const DistributedItem& item : items) {
      const bool flat = item.name == "app.progress.step";
      if (!flat && item.name != "app.progress") continue;
      const auto open = exam.disk().open_read(exam.tree().full(path));
      if (!open.ok()) return;
      const FileDirectory directory = read_torch_zip(**open, item.at, item.bytes);
      const auto step = directory.numbers.find(flat ? "number" : "step");
      if (directory.proven && step != directory.numbers.end()) exam.step_is(step->second, path);
      return;
    }
  }
}

/// SFT: each rank reads its own, or rank 0's where that is not there, and stops without both.
void require_loader(Examination& exam, const std::string& folder) {
  const CheckpointTree& tree = exam.tree();
  const std::string first = cat(folder, "/rank_0.pt");
  exam.has(Piece::kDataloader);
  const TreeFile* const file = tree.find(first);
  if (file == nullptr)
    return cannot_resume(exam, Piece::kDataloader, first, "it is missing, and prime-rl cannot resume without it");
  const FileDirectory& directory = exam.directory(*file);
  if (directory.format == FileDirectory::Format::kUnknown && directory.found.empty() && !exam.is_unreadable(first))
    exam.problem(Trouble::kDamaged, first, "it is not what torch.save writes, and prime-rl cannot resume without it");
  for (int64_t rank = 1; tree.has(cat("trainer/__", rank, "_0.distcp")); ++rank) {
    const std::string own = cat(folder, "/rank_", rank, ".pt");
    if (!tree.has(own)) return exam.note(cat(own, " is not there: that rank takes rank 0's place in the data"));
  }
}

/// The orchestrator saves in RL only. An SFT save that lost all of its loader's files looks like RL's without it.
bool is_supervised(Examination& exam) {
  const auto beside = nearest_beside(exam.disk(), exam.tree().root(), 1);
  return std::any_of(beside.begin(), beside.end(), [&exam](const std::string& one) {
    const auto names = exam.disk().list(cat(one, "/trainer/dataloader"));
    return names.ok() && !names->empty() && !exam.disk().info(cat(one, "/orchestrator/progress.pt")).ok();
  });
}

void examine_prime_rl(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  if (!tree.has_folder("trainer")) {
    exam.problem(Trouble::kMissing, "trainer",
                 "the trainer's part is missing: the orchestrator saves first, and at any exit");
    exam.finished(false);
  } else {
    require_last(exam, "trainer/.metadata", "the trainer's part was not written to its end");
    require_own_progress(exam);
  }
  exam.has(Piece::kStep);
  for (const std::string folder : {"trainer/dataloader", "dataloader"}) {
    if (tree.has_folder(folder)) return require_loader(exam, folder);
  }
  if (!tree.has("orchestrator/progress.pt")) {
    if (tree.has_folder("trainer") && !tree.has_folder("orchestrator") && is_supervised(exam))
      return cannot_resume(exam, Piece::kDataloader, "trainer/dataloader/rank_0.pt",
                           "it is missing, and prime-rl cannot resume without it");
    return exam.problem(Trouble::kMissing, "orchestrator/progress.pt",
                        "it is missing, and --resume ends with an error without it");
  }
  exam.has(Piece::kDataloader);
  step_of_pickle(exam, "orchestrator/progress.pt", "progress.step");
}

}  // namespace

namespace layouts {
extern const CheckpointFramework prime_rl;
const CheckpointFramework prime_rl{"prime-rl", is_prime_rl, examine_prime_rl};
}  // namespace layouts

}  // namespace mw
