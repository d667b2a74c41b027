// The trees of frameworks without a format of their own to read: what each trainer needs to resume, by the files that
// it writes (their own save and load code), and which of them it writes last.
#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/durable.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

constexpr size_t kSmallJson = size_t{64} << 20;

/// A whole number of a JSON file; nothing where there is none.
std::optional<int64_t> number_of_json(Examination& exam, const TreeFile& file, std::string_view name) {
  class Find final : public JsonLeaves {
   public:
    explicit Find(std::string_view wanted) : wanted_(wanted) {}
    void number(std::string_view path, double value) override {
      if (path == wanted_ && value >= 0 && value < 9e15) found = static_cast<int64_t>(value);
    }
    void string(std::string_view, std::string_view) override {}
    bool enter_array(std::string_view) override { return false; }
    std::optional<int64_t> found;

   private:
    std::string_view wanted_;
  };
  const auto text = exam.text(file, kSmallJson);
  Find find(name);
  if (!text || !for_each_leaf(*text, find)) return std::nullopt;
  return find.found;
}

/// `path` is written after everything else: without it the save did not come to its end.
bool require_last(Examination& exam, const std::string& path, std::string_view why) {
  const bool there = exam.tree().has(path);
  exam.finished(there);
  if (!there) exam.problem(Trouble::kMissing, path, cat("it is missing: ", why));
  return there;
}

void piece_by_file(Examination& exam, Piece piece, const std::string& path, bool needed = true) {
  if (exam.tree().has(path)) {
    exam.has(piece);
  } else {
    exam.lacks(piece, needed);
  }
}

void step_of_pickle(Examination& exam, const std::string& path, const std::string& number) {
  const TreeFile* const file = exam.tree().find(path);
  if (file == nullptr) return;
  const auto& numbers = exam.directory(*file).numbers;
  const auto found = numbers.find(number);
  if (found == numbers.end()) return;
  exam.has(Piece::kStep);
  exam.step_is(found->second, path);
}

bool named(const CheckpointTree& tree, std::string_view prefix) { return tree.own_name().starts_with(prefix); }
/// One that was copied to a folder of another name: then its content alone says whose it is.
bool renamed(const CheckpointTree& tree) { return step_of_name(tree.own_name()) == kNoStep; }

// ---- AReaL: one recover slot (recover_checkpoint, recover_info), and exports without anything to resume from
std::string recover_folder(const CheckpointTree& tree) {
  for (const auto& [folder, files] : tree.folders()) {
    if (basename(folder) == "recover_checkpoint") return folder;
  }
  return "";
}
bool is_areal(const CheckpointTree& tree) {
  return tree.has_folder("recover_info") || (named(tree, "epoch") && contains(tree.own_name(), "globalstep"));
}
/// It writes the weights first. Where all of `recover_info` is older than all of them, by more than a copy of them
/// takes (which gives each file the time at which it came), it is an earlier save's.
void require_later_info(Examination& exam, const std::string& weights) {
  constexpr int64_t kSlowest = 20'000'000, kLeast = 60;  // bytes a second of a copy; seconds
  Time info, first;
  int64_t largest = 0;
  for (const TreeFile& file : exam.tree().files()) {
    if (file.path.starts_with("recover_info/")) info = std::max(info, file.changed);
    if (!file.path.starts_with(cat(weights, "/"))) continue;
    if (!first.known() || file.changed < first) first = file.changed;
    largest = std::max(largest, file.bytes);
  }
  if (!info.known() || !first.known() || first - info <= Duration::seconds(kLeast + largest / kSlowest)) return;
  exam.finished(false);
  exam.problem(Trouble::kOtherTime, "recover_info/dataloader_info.pkl",
               cat("all of recover_info was written by ", format_utc(info).substr(0, 19), "Z, and the weights from ",
                   format_utc(first).substr(0, 19),
                   "Z on: AReaL writes it after them, so they are of a later step than it says"));
}

void examine_areal(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  if (!tree.has_folder("recover_info")) return;
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
  const std::string folder = recover_folder(tree);
  if (folder.empty())
    exam.problem(Trouble::kMissing, "default/recover_checkpoint", "the weights are missing, and recover_info is there");
  if (!folder.empty()) require_later_info(exam, folder);
  exam.lacks(Piece::kScheduler, false);
}

// ---- prime-rl: step_N/{trainer,orchestrator}
bool is_prime_rl(const CheckpointTree& tree) {
  return named(tree, "step_") && !tree.has_folder("policy") &&
         (tree.has_folder("orchestrator") || tree.has("trainer/.metadata") || tree.has_folder("trainer"));
}
void examine_prime_rl(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  if (!tree.has_folder("trainer")) {
    exam.problem(Trouble::kMissing, "trainer",
                 "the trainer's part is missing: the orchestrator saves first, and at any exit");
    exam.finished(false);
  } else {
    require_last(exam, "trainer/.metadata", "the trainer's part was not written to its end");
  }
  const bool supervised =
      tree.has_folder("dataloader") || tree.has_folder("trainer/dataloader");  // SFT: no orchestrator
  if (supervised) exam.has(Piece::kDataloader);
  if (!supervised && !tree.has("orchestrator/progress.pt")) {
    exam.problem(Trouble::kMissing, "orchestrator/progress.pt",
                 "it is missing, and --resume ends with an error without it");
    return;
  }
  exam.has(Piece::kStep);
  exam.has(Piece::kDataloader);
  step_of_pickle(exam, "orchestrator/progress.pt", "progress.step");
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
void examine_verl(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  if (!renamed(tree)) exam.has(Piece::kStep);  // the folder's name
  if (renamed(tree)) {
    exam.lacks(Piece::kStep);
    exam.note("verl resumes from folders that are called global_step_N only: the step is in no file");
  }
  if (!tree.has_folder("actor"))
    exam.problem(Trouble::kMissing, "actor", "the actor is missing: verl removes old ones part by part");
  if (require_last(exam, "data.pt", "verl writes it when all ranks are done")) exam.has(Piece::kDataloader);
  const bool megatron = tree.has_folder("actor/model/dist_ckpt") || tree.has_folder("actor/dist_ckpt");
  if (tree.has_folder("actor/model/dist_ckpt"))
    require_last(exam, "actor/ckpt_contents.json", "verl writes it last, when all parts of the actor are there");
  if (tree.has_folder("actor/optimizer")) exam.has(Piece::kOptimizer);
  if (!megatron && tree.has_folder("actor") && exam.pieces().count(Piece::kOptimizer) == 0)
    exam.lacks(Piece::kOptimizer);
}

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
    }
  }
  if (optimizer) exam.has(Piece::kOptimizer);
  if (rng) exam.has(Piece::kRng);
  if (!optimizer) exam.lacks(Piece::kOptimizer);
  if (!tree.has("scheduler.pt") && !tree.has("latest")) exam.lacks(Piece::kScheduler, optimizer);
  if (tree.has("scheduler.pt")) exam.has(Piece::kScheduler);
  if (!rng) exam.lacks(Piece::kRng, false);
  note_ranks_without_rng(exam);
  exam.has(Piece::kDataloader);  // it is wound forward by the step
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
/// Formats of Megatron-LM without a common.pt exist: it is missing where a checkpoint beside this one has it.
void require_common(Examination& exam) {
  const CheckpointTree& tree = exam.tree();
  if (tree.has("common.pt") || tree.has_folder("mp_rank_00")) return;
  const std::string folder = folder_of(tree.root());
  const auto names = exam.disk().list(folder);
  size_t looked = 0;
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    constexpr size_t kLooked = 16;
    if (!name.starts_with("iter_") || name == tree.own_name() || looked++ >= kLooked) continue;
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
extern const CheckpointFramework areal, prime_rl, nemo_rl, skyrl, verl, accelerate, transformers, openrlhf, slime,
    deepspeed_alone, megatron_alone;
const CheckpointFramework areal{"areal", is_areal, examine_areal};
const CheckpointFramework prime_rl{"prime-rl", is_prime_rl, examine_prime_rl};
const CheckpointFramework nemo_rl{"nemo-rl", is_nemo_rl, examine_nemo_rl};
const CheckpointFramework skyrl{"skyrl", is_skyrl, examine_skyrl};
const CheckpointFramework verl{"verl", is_verl, examine_verl};
const CheckpointFramework accelerate{"accelerate", is_accelerate, examine_accelerate};
const CheckpointFramework transformers{"transformers", is_transformers, examine_transformers};
const CheckpointFramework openrlhf{"openrlhf", is_openrlhf, examine_openrlhf};
const CheckpointFramework slime{"megatron", is_slime, examine_slime};
const CheckpointFramework deepspeed_alone{"deepspeed", is_deepspeed, examine_deepspeed};
const CheckpointFramework megatron_alone{"megatron", is_megatron, examine_megatron};
}  // namespace layouts

}  // namespace mw
