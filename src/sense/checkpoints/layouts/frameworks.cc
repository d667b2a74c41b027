// The trees of frameworks without a format of their own to read: what each trainer needs to resume, by the files that
// it writes (their own save and load code), and which of them it writes last.
#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/durable.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/layouts/support.h"

namespace mw {
namespace {

// ---- AReaL: one recover slot (recover_checkpoint, recover_info), and exports without anything to resume from
std::string recover_folder(const CheckpointTree& tree) {
  for (const auto& [folder, files] : tree.folders()) {
    if (basename(folder) == "recover_checkpoint") return folder;
  }
  return "";
}
bool is_areal(const CheckpointTree& tree) {
  return tree.has_folder("recover_info") || tree.own_name() == "recover_checkpoint" || !recover_folder(tree).empty() ||
         (named(tree, "epoch") && contains(tree.own_name(), "globalstep"));
}
/// Of the weights alone, whose trial is two folders above them.
void require_info_above(Examination& exam) {
  const auto info = exam.disk().info(cat(folder_of(folder_of(exam.tree().root())), "/recover_info"));
  if (info.ok() || info.error().code != Error::Code::kNotFound) return;
  exam.finished(false);
  exam.problem(Trouble::kMissing, "../../recover_info",
               "it is missing: AReaL writes it after the weights, and resumes from nothing without");
}

void examine_areal(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  const std::string folder = recover_folder(tree);
  if (tree.own_name() == "recover_checkpoint") return require_info_above(exam);
  if (!tree.has_folder("recover_info")) {
    if (folder.empty()) return;  // an export
    exam.finished(false);
    return exam.problem(Trouble::kMissing, "recover_info",
                        cat("it is missing: AReaL writes it after ", folder, ", and resumes from nothing without"));
  }
  constexpr std::array<std::string_view, 5> kInfos = {"step_info.json", "saver_info.json", "evaluator_info.json",
                                                      "stats_logger_info.json", "checkpoint_info.json"};
  for (const std::string_view name : kInfos) {
    const std::string path = cat("recover_info/", name);
    if (!tree.has(path))
      exam.problem(Trouble::kMissing, path, "it is missing, and AReaL resumes only when all of them are there");
  }
  if (require_last(exam, "recover_info/dataloader_info.pkl", "AReaL writes it last")) exam.has(Piece::kDataloader);
  if (const TreeFile* const info = tree.find("recover_info/step_info.json")) {
    if (const auto step = number_of_json(exam, *info, "global_step")) {
      exam.has(Piece::kStep);
      exam.step_is(*step, info->path);
    }
  }
  if (folder.empty())
    exam.problem(Trouble::kMissing, "default/recover_checkpoint", "the weights are missing, and recover_info is there");
  exam.lacks(Piece::kScheduler, false);
}

// ---- NeMo-RL: tmp_step_N, renamed to step_N when it is done
bool is_nemo_rl(const CheckpointTree& tree) {
  const bool name = named(tree, "step_") || named(tree, "tmp_step_") || named(tree, "old_step_");
  if (renamed(tree)) return tree.has("training_info.json") && tree.has_folder("policy/weights");
  return name && (tree.has("training_info.json") || tree.has_folder("policy/weights"));
}
/// Which of them is the step of the whole run differs by algorithm and version; one of them is, or is one less.
bool says_step(Examination& exam, const TreeFile& file, int64_t step, int64_t* says) {
  *says = kNoStep;
  bool found = false;
  for (const std::string_view name : {"total_steps", "step", "current_step"}) {
    const auto number = number_of_json(exam, file, name);
    if (!number) continue;
    if (*says == kNoStep) *says = *number;
    found = found || *number == step || *number + 1 == step;
  }
  return found;
}
/// What it says counts where a checkpoint beside this one says its own step.
void require_own_info(Examination& exam, const TreeFile& info) {
  const CheckpointTree& tree = exam.tree();
  const int64_t step = step_of_name(tree.own_name());
  int64_t says = kNoStep;
  if (step == kNoStep || says_step(exam, info, step, &says) || says == kNoStep) return;
  const bool whole_run = number_of_json(exam, info, "total_steps").has_value();
  for (const std::string_view epoch : {"epoch", "current_epoch"}) {  // the others begin anew with each
    if (!whole_run && number_of_json(exam, info, epoch).value_or(0) > 0) return;
  }
  const std::string folder = folder_of(tree.root());
  const auto names = exam.disk().list(folder);
  size_t looked = 0;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    constexpr size_t kLooked = 16;
    const int64_t other = step_of_name(name);
    if (other == kNoStep || other == step || ++looked > kLooked) continue;
    const auto beside = CheckpointTree::read(exam.disk(), cat(folder, "/", name, "/", info.path));
    if (!beside.ok()) continue;
    Examination there(exam.disk(), *beside);
    int64_t its = kNoStep;
    if (beside->files().empty() || !says_step(there, beside->files().front(), other, &its)) continue;
    return exam.problem(Trouble::kMixed, info.path,
                        cat("it is of step ", says, ", and its folder says step ", step, "; ", name, " says its own"));
  }
}
/// Megatron's weights are found by one of two files beside them; without both the trainer takes those of the model
/// that it began with, and says nothing.
void require_tracker(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  const std::string name = "policy/weights/latest_checkpointed_iteration.txt";
  if (!tree.has_folder("policy/weights/iter_0000000") || tree.has("policy/weights/latest_train_state.pt")) return;
  constexpr size_t kLongest = 4096;
  const TreeFile* const tracker = tree.find(name);
  const bool small = tracker != nullptr && static_cast<size_t>(tracker->bytes) <= kLongest;
  const auto text = small ? exam.text(*tracker, kLongest) : std::nullopt;
  if (small && !text) return;  // it may not be read
  const std::string_view says = text ? trim(*text) : std::string_view();
  if (says == "release" || parse_int(says)) return;
  cannot_resume(exam, Piece::kPointer, name,
                cat(tracker == nullptr    ? "it is missing"
                    : tracker->bytes == 0 ? "it is empty"
                                          : "it holds no number",
                    ": NeMo-RL finds policy/weights/iter_0000000 by it; write 0 into it"));
}
void examine_nemo_rl(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  exam.finished(!named(tree, "tmp_step_"));
  if (named(tree, "tmp_step_"))
    exam.problem(Trouble::kMissing, "",
                 "NeMo-RL renames tmp_step_N to step_N when a save is done, and this one was not");
  if (!tree.has_folder("policy/weights"))
    exam.problem(Trouble::kMissing, "policy/weights", "the policy's weights are missing");
  if (!tree.has("training_info.json"))
    exam.problem(Trouble::kMissing, "training_info.json", "it is missing, and NeMo-RL cannot resume without it");
  if (const TreeFile* const info = tree.find("training_info.json")) require_own_info(exam, *info);
  if (named(tree, "old_step_")) {
    exam.lacks(Piece::kStep);
    exam.note(
        "NeMo-RL resumes from folders that are called step_N only: this one is what a save of the same step took "
        "the place of; rename it to resume from it");
  } else {
    exam.has(Piece::kStep);
  }
  if (tree.has_folder("policy/optimizer") || tree.has_folder("policy/weights/iter_0000000")) {
    exam.has(Piece::kOptimizer);
  } else {
    exam.lacks(Piece::kOptimizer);
  }
  require_tracker(exam);
  bool loader = false;
  for (const TreeFile& file : tree.files()) loader = loader || file.path.starts_with("train_dataloader");
  if (loader) {
    exam.has(Piece::kDataloader);
  } else {
    exam.problem(Trouble::kMissing, "train_dataloader.pt", "it is missing, and NeMo-RL cannot resume without it");
  }
}

// ---- SkyRL: global_step_N/{policy,critic}, data.pt, trainer_state.pt last
bool is_skyrl(const CheckpointTree& tree) {
  if (renamed(tree)) return tree.has_folder("policy") && tree.has("trainer_state.pt");
  return named(tree, "global_step_") && !tree.has_folder("actor") &&
         (tree.has_folder("policy") || tree.has("trainer_state.pt"));
}
/// {export_path}/global_step_N/policy: a model as transformers loads it, and nothing of the trainer's.
bool is_skyrl_export(const CheckpointTree& tree) {
  if (tree.has("trainer_state.pt") || tree.has("data.pt") || !tree.has_folder("policy")) return false;
  bool weights = false;
  for (const TreeFile& file : tree.files()) {
    const std::string_view folder = folder_in_tree(file.path), name = file.name(), ending = ending_of(name);
    if (rank_shard_of(name).of > 0 || ending == "distcp" || name == ".metadata") return false;
    const bool model = ending == "safetensors" || (ending == "bin" && name.starts_with("pytorch_model"));
    weights = weights || (folder == "policy" && model);
  }
  return weights && (tree.has("policy/config.json") || tree.has("policy/adapter_config.json"));
}
void examine_skyrl(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  if (is_skyrl_export(tree)) {
    for (const Piece piece : {Piece::kOptimizer, Piece::kScheduler, Piece::kDataloader}) exam.lacks(piece);
    return exam.note("it is an export for inference: SkyRL does not resume from it");
  }
  if (!tree.has_folder("policy") && (exam.weights() == 0 || tree.has_folder("critic")))
    exam.problem(Trouble::kMissing, "policy", "the policy is missing");
  require_last(exam, "trainer_state.pt", "SkyRL writes it last, and cannot resume without it");
  step_of_pickle(exam, "trainer_state.pt", "global_step");
  piece_by_file(exam, Piece::kDataloader, "data.pt");
  if (exam.pieces().count(Piece::kOptimizer) == 0) exam.lacks(Piece::kOptimizer);
}

// ---- verl: global_step_N/{actor,critic}, data.pt
bool is_verl(const CheckpointTree& tree) {
  if (renamed(tree)) {
    std::vector<std::string> in_actor;
    for (const auto& [folder, files] : tree.folders()) {
      if (folder != "actor" && !folder.starts_with("actor/")) continue;
      if (folder != "actor") in_actor.push_back(folder.substr(6, folder.find('/', 6) - 6));
      for (const size_t file : files) {
        if (folder == "actor") in_actor.emplace_back(tree.files()[file].name());
      }
    }
    return tree.has_folder("actor") && (tree.has("data.pt") || is_part_of_verl(in_actor));
  }
  return named(tree, "global_step_") && (tree.has_folder("actor") || tree.has("data.pt"));
}
/// actor.checkpoint.save_contents=[hf_model]: the actor's folder holds a model as transformers loads it, and no rank's
/// part.
bool is_verl_export(const Examination& exam) {
  const auto& files = exam.tree().files();
  return exam.only_exported() && std::any_of(files.begin(), files.end(), [](const TreeFile& file) {
           return file.path.starts_with("actor/huggingface/") && file.role == FileRole::kWeights;
         });
}
/// Of one role with Megatron: the step and the number of ranks that its manifest states.
void require_own_contents(Examination& exam, const std::string& role) {
  const CheckpointTree& tree = exam.tree();
  const TreeFile* const file = renamed(tree) ? nullptr : tree.find(cat(role, "/ckpt_contents.json"));
  if (file == nullptr) return;
  if (const auto step = number_of_json(exam, *file, "global_step")) exam.step_is(*step, file->path);
  const auto world = number_of_json(exam, *file, "world_size");
  for (const TreeFile& part : tree.files()) {
    const std::string_view name = part.name();
    if (!world || !part.path.starts_with(cat(role, "/")) || !name.starts_with("__") || ending_of(name) != "distcp")
      continue;
    const auto rank = parse_int(name.substr(2, name.find('_', 2) - 2));
    if (rank && *rank >= *world)
      return exam.problem(Trouble::kContradicts, file->path,
                          cat("it says a world size of ", *world, ", and ", part.path, " is of rank ", *rank));
  }
}
void examine_verl(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  if (is_verl_export(exam)) exam.note("it holds an export for inference only: verl does not resume from it");
  if (!renamed(tree)) exam.has(Piece::kStep);  // the folder's name
  if (renamed(tree)) {
    exam.lacks(Piece::kStep);
    exam.note("verl resumes from folders that are called global_step_N only: the step is in no file");
  }
  if (!tree.has_folder("actor"))
    exam.problem(Trouble::kMissing, "actor", "the actor is missing: verl removes old ones part by part");
  if (require_last(exam, "data.pt", "verl writes it when all ranks are done")) exam.has(Piece::kDataloader);
  const bool megatron = tree.has_folder("actor/model/dist_ckpt") || tree.has_folder("actor/dist_ckpt");
  for (const char* const role : {"actor", "critic"}) require_own_contents(exam, role);
  if (tree.has_folder("actor/model/dist_ckpt"))
    require_last(exam, "actor/ckpt_contents.json", "verl writes it last, when all parts of the actor are there");
  if (tree.has_folder("actor/optimizer")) exam.has(Piece::kOptimizer);
  if (!megatron && tree.has_folder("actor") && exam.pieces().count(Piece::kOptimizer) == 0)
    exam.lacks(Piece::kOptimizer);
}

// ---- OpenRLHF: _actor/global_stepN, DeepSpeed's files and metric.json last
bool has_deepspeed(const CheckpointTree& tree) {
  for (const TreeFile& file : tree.files()) {
    if (file.path.ends_with("_model_states.pt") || file.path.ends_with("_optim_states.pt")) return true;
  }
  return false;
}
bool is_openrlhf(const CheckpointTree& tree) {
  const std::string parent(basename(folder_of(tree.root())));
  return tree.has("metric.json") || ((parent == "_actor" || parent == "_critic") && has_deepspeed(tree));
}
void examine_openrlhf(Examination& exam) {
  // Older versions do not write it: its absence alone proves nothing.
  if (exam.tree().has("metric.json")) exam.finished(true);
  if (!exam.tree().has("metric.json"))
    exam.note("metric.json is not there: OpenRLHF of today writes it when a save is done, older versions do not");
  if (exam.pieces().count(Piece::kOptimizer) == 0) exam.lacks(Piece::kOptimizer);
}

// ---- slime: iter_NNNNNNN, with the place in the data beside it
bool is_slime(const CheckpointTree& tree) {
  return named(tree, "iter_") && basename(folder_of(tree.root())) != "weights";
}
/// Formats of Megatron-LM without a common.pt exist: it is missing where a checkpoint beside this one has it. A folder
/// whose name goes on behind the step ("iter_0000030_hf") is what somebody made of one.
void require_common(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  if (tree.has("common.pt") || tree.has_folder("mp_rank_00") || step_of_name(tree.own_name()) == kNoStep) return;
  const std::string folder = folder_of(tree.root());
  const auto names = exam.disk().list(folder);
  size_t looked = 0;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    constexpr size_t kLooked = 16;
    if (!name.starts_with("iter_") || step_of_name(name) == kNoStep || name == tree.own_name() || looked++ >= kLooked)
      continue;
    if (!exam.disk().info(cat(folder, "/", name, "/common.pt")).ok()) continue;
    return exam.problem(Trouble::kMissing, "common.pt",
                        cat("it is missing, and ", clip(sanitize_utf8(name), 60), " has it"));
  }
}

void examine_slime(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  const int64_t step = step_of_name(tree.own_name());
  for (const char* file : {"common.pt", "mp_rank_00/model_optim_rng.pt"}) {
    if (step != 0) step_of_pickle(exam, file, "iteration");  // NeMo-RL's are always of iteration 0
  }
  require_common(exam);
  const auto rollouts = exam.disk().list(cat(folder_of(tree.root()), "/rollout"));
  if (!rollouts.ok() || rollouts->empty() || step == kNoStep) return;
  exam.found_framework("slime");
  const std::string name = cat("global_dataset_state_dict_", step, ".pt");
  for (const std::string& one : *rollouts) {
    if (one == name) {
      exam.look_outside(cat(folder_of(tree.root()), "/rollout/", name), cat("../rollout/", name));
      exam.finished(true);
      return exam.has(Piece::kDataloader);
    }
  }
  exam.finished(false);
  exam.problem(Trouble::kMissing, cat("../rollout/", name),
               "it is missing: slime writes it after the weights, and cannot resume without it");
}

// ---- DeepSpeed or Megatron under no known framework
bool is_deepspeed(const CheckpointTree& tree) { return has_deepspeed(tree); }
void examine_deepspeed(Examination& exam) {
  if (exam.pieces().count(Piece::kOptimizer) == 0) exam.lacks(Piece::kOptimizer);
}
bool is_megatron(const CheckpointTree& tree) { return tree.has("common.pt"); }
void examine_megatron(Examination& exam) { step_of_pickle(exam, "common.pt", "iteration"); }

}  // namespace

namespace layouts {
extern const CheckpointFramework areal, nemo_rl, skyrl, verl, openrlhf, slime, deepspeed_alone, megatron_alone;
const CheckpointFramework areal{"areal", is_areal, examine_areal};
const CheckpointFramework nemo_rl{"nemo-rl", is_nemo_rl, examine_nemo_rl};
const CheckpointFramework skyrl{"skyrl", is_skyrl, examine_skyrl};
const CheckpointFramework verl{"verl", is_verl, examine_verl};
const CheckpointFramework openrlhf{"openrlhf", is_openrlhf, examine_openrlhf};
const CheckpointFramework slime{"megatron", is_slime, examine_slime};
const CheckpointFramework deepspeed_alone{"deepspeed", is_deepspeed, examine_deepspeed};
const CheckpointFramework megatron_alone{"megatron", is_megatron, examine_megatron};
}  // namespace layouts

}  // namespace mw
