// The trees of accelerate, and of transformers' Trainer, with which TRL trains.
#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/layouts/support.h"

namespace mw {
namespace {

// ---- accelerate: Accelerator.save_state, as diffusers' scripts call it with checkpoint-N. Which of its files there
// are depends on what the script prepared; of the first process at least there is a file of random states.
bool is_accelerate(const CheckpointTree& tree) {
  // Of a save that was cut short nothing more may be there than what is written first.
  bool own = tree.has("scheduler.bin") || (counts_saves(tree.root()) && tree.has("optimizer.bin"));
  for (const TreeFile& file : tree.files()) {
    // transformers' Trainer lets accelerate write models and optimizers, and writes these itself.
    if (file.path.starts_with("rng_state") || file.path == "trainer_state.json" || file.path == "scheduler.pt" ||
        file.path == "training_args.bin" || file.path == "checkpoint-is-incomplete.txt") {
      return false;
    }
    own = own || (file.path.starts_with("random_states_") && file.path.ends_with(".pkl"));
  }
  return own;
}
void examine_accelerate(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  bool rng = false, optimizer = exam.pieces().count(Piece::kOptimizer) != 0;
  for (const TreeFile& file : tree.files()) {
    rng = rng || file.path.starts_with("random_states_");
    optimizer = optimizer || file.path.starts_with("optimizer");
  }
  if (optimizer) exam.has(Piece::kOptimizer);
  if (!optimizer) exam.lacks(Piece::kOptimizer);
  if (tree.has("scheduler.bin")) exam.has(Piece::kScheduler);
  if (rng) exam.has(Piece::kRng);
  if (!rng) exam.lacks(Piece::kRng, false);
  // Scripts take it from the folder's name, or, where that counts saves, from what they had saved with it.
  if (exam.step() != kNoStep) exam.has(Piece::kStep);
}

// ---- transformers and TRL: checkpoint-N
bool is_transformers(const CheckpointTree& tree) {
  return tree.has("trainer_state.json") || named(tree, "checkpoint-");
}
/// Each process writes its own file, and one without it draws other numbers than it would have. A machine without
/// shared storage holds those of its own processes, which may begin at any number.
void note_ranks_without_rng(Examination& exam) {
  constexpr std::string_view kBegin = "rng_state_", kEnd = ".pth";
  std::set<int64_t> ranks;
  for (const TreeFile& file : exam.tree().files()) {
    if (!file.path.starts_with(kBegin) || !file.path.ends_with(kEnd)) continue;
    const auto rank =
        parse_int(std::string_view(file.path).substr(kBegin.size(), file.path.size() - kBegin.size() - kEnd.size()));
    if (rank && *rank >= 0) ranks.insert(*rank);
  }
  int64_t before = -1;
  for (const int64_t rank : ranks) {
    if (before >= 0 && rank > before + 1) {
      return exam.note(cat("not every rank's rng is in it: ", kBegin, before + 1, kEnd,
                           " is not there, and those of ranks before and after it are"));
    }
    before = rank;
  }
}

/// transformers gives DeepSpeed the folder and no tag: it takes what `latest` names, and finds nothing without it.
void require_latest(Examination& exam) {
  constexpr size_t kLongest = 4096;
  const CheckpointTree& tree = exam.tree();
  std::string own;  // DeepSpeed's folder in it
  for (const auto& [folder, files] : tree.folders()) {
    const bool saved = std::any_of(files.begin(), files.end(), [&tree](size_t number) {
      return tree.files()[number].name().ends_with("_model_states.pt");
    });
    if (saved && folder.starts_with("global_step") && !contains(folder, "/")) own = folder;
  }
  if (own.empty()) return;
  const TreeFile* const file = tree.find("latest");
  const auto text = file == nullptr ? std::nullopt : exam.text(*file, kLongest);
  if (file != nullptr && !text) return;
  const std::string tag(text ? trim(*text) : std::string_view());
  if (!tag.empty() && tree.has_folder(tag)) return;
  const std::string what = file == nullptr ? "it is missing"
                           : tag.empty()   ? "it is empty"
                                           : cat("it names ", clip(sanitize_utf8(tag), 60), ", which is not there");
  cannot_resume(exam, Piece::kPointer, "latest",
                cat(what, ": transformers finds ", own, " by it, and ends with an error; write ", own, " into it"));
}

/// TrainerState(**json.load(file)), and its step is counted on from. A state without one counts from 0.
void require_trainer_state(Examination& exam, const TreeFile& file) {
  constexpr size_t kLargest = 8 << 20;  // of one whose log is long only the step is read
  if (file.bytes <= 0 || static_cast<size_t>(file.bytes) > kLargest) return;
  const auto text = exam.text(file, kLargest);
  const auto json = text ? Json::parse(*text) : Result<Json>(Error{});
  if (!json.ok()) return;  // said already
  if (!json->is_object())
    return exam.problem(Trouble::kDamaged, file.path, "it holds no trainer's state: transformers fails on it");
  if (json->find("global_step") != nullptr)
    exam.problem(Trouble::kDamaged, file.path, "its global_step is no step: transformers fails on it, or goes astray");
}

void examine_transformers(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  if (tree.has("checkpoint-is-incomplete.txt")) {
    exam.finished(false);
    exam.problem(Trouble::kMissing, "checkpoint-is-incomplete.txt", "it says that this save was not finished");
  }
  const TreeFile* const state = tree.find("trainer_state.json");
  bool training = false;  // weights alone are an export
  bool rng = false, optimizer = false;
  for (const TreeFile& file : tree.files()) {
    rng = rng || file.path.starts_with("rng_state");
    optimizer = optimizer || file.path.starts_with("optimizer") || file.path.starts_with("global_step");
  }
  training = rng || optimizer || tree.has("scheduler.pt") || tree.has("training_args.bin");
  if (state == nullptr && training)
    require_last(exam, "trainer_state.json", "transformers writes it last, and cannot resume without it");
  if (state != nullptr) {
    if (const auto step = number_of_json(exam, *state, "global_step")) {
      exam.has(Piece::kStep);
      exam.step_is(*step, state->path);
    } else if (training) {
      require_trainer_state(exam, *state);
    }
  }
  if (optimizer) exam.has(Piece::kOptimizer);
  if (rng) exam.has(Piece::kRng);
  if (!optimizer) exam.lacks(Piece::kOptimizer);
  if (!tree.has("scheduler.pt") && !tree.has("latest")) exam.lacks(Piece::kScheduler, optimizer);
  if (tree.has("scheduler.pt")) exam.has(Piece::kScheduler);
  if (!rng) exam.lacks(Piece::kRng, false);
  note_ranks_without_rng(exam);
  if (state != nullptr) require_latest(exam);
  exam.has(Piece::kDataloader);  // it is wound forward by the step
}

}  // namespace

namespace layouts {
extern const CheckpointFramework accelerate, transformers;
const CheckpointFramework accelerate{"accelerate", is_accelerate, examine_accelerate};
const CheckpointFramework transformers{"transformers", is_transformers, examine_transformers};
}  // namespace layouts

}  // namespace mw
