// DeepSpeed ZeRO: stages 1 and 2 write mp_rank_MM_model_states.pt and an optimizer file for each rank, stage 3 both for
// each rank. (deepspeed/runtime/engine.py, save_checkpoint; the number of ranks stands in the model's file.)
#include <algorithm>
#include <array>

#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/rank_names.h"

namespace mw {
namespace {

struct Ranks {
  std::map<int64_t, std::set<int64_t>> by_tensor;  ///< data ranks
  int64_t data = 0;                                ///< the highest, and one
  std::string prefix;
};

void require_ranks(Examination& exam, const std::string& folder, const Ranks& ranks, int64_t data, int64_t tensors,
                   std::string_view kind) {
  constexpr size_t kShown = 20;
  size_t missing = 0;
  for (int64_t tensor = 0; tensor < tensors; ++tensor) {
    const auto there = ranks.by_tensor.find(tensor);
    for (int64_t rank = 0; rank < data; ++rank) {
      if (there != ranks.by_tensor.end() && there->second.count(rank) != 0) continue;
      if (++missing > kShown) continue;
      const std::string name =
          cat(ranks.prefix, "zero_pp_rank_", rank, "_mp_rank_", tensor < 10 ? "0" : "", tensor, kind);
      exam.problem(Trouble::kMissing, in_folder(folder, name),
                   cat("it is missing: there are ", data, " x ", tensors, " ranks"));
    }
  }
  if (missing > kShown)
    exam.problem(Trouble::kMissing, folder, cat(missing - kShown, " more files of ranks are missing"));
}

class Examiner {
 public:
  Examiner(Examination& exam, const std::string& folder) : exam_(exam), folder_(folder) {}

  void run(const std::vector<const TreeFile*>& files) {
    for (const TreeFile* file : files) pipelined_ = pipelined_ || file->name().starts_with("layer_");
    for (const TreeFile* file : files) {
      if (const auto name = zero_name_of(file->name())) take(*file, *name);
    }
    if (models_.empty() && optimizers_.by_tensor.empty()) return;
    exam_.found_layout("DeepSpeed ZeRO");
    if (exam_.tree().single_file()) return;
    read_model();
    if (holds_partitions()) exam_.holds_weights(in_folder(folder_, "*"));
    const int64_t data = std::max({data_, optimizers_.data, model_ranks_.data});
    if (!optimizers_.by_tensor.empty()) require_ranks(exam_, folder_, optimizers_, data, tensors_, "_optim_states.pt");
    if (!model_ranks_.by_tensor.empty()) {
      require_ranks(exam_, folder_, model_ranks_, data, tensors_, "_model_states.pt");
    } else if (single_models_.size() < static_cast<size_t>(tensors_)) {
      exam_.problem(Trouble::kMissing, in_folder(folder_, "mp_rank_*_model_states.pt"),
                    cat(single_models_.size(), " of ", tensors_, " files of the model are there"));
    }
    if (data_ > 0 && optimizers_.by_tensor.empty() && stage_ > 0) {
      exam_.problem(Trouble::kMissing, in_folder(folder_, "*zero_pp_rank_*_optim_states.pt"),
                    "the optimizer's files are missing, and the model's file says that there are some");
    }
    constexpr std::array<std::string_view, 4> kSame = {"global_steps", "dp_world_size", "lr_scheduler.last_epoch",
                                                       "global_step"};
    require_same_numbers(exam_, models_, kSame);
    for (const auto& [tensor, of] : optimizer_files_) require_same_steps(exam_, of);
    for (const auto& [tensor, of] : optimizer_files_) require_own_rank(exam_, of, false);
    require_own_rank(exam_, models_, false);
    if (!pipelined_) require_all_numbers(data);
  }

 private:
  void take(const TreeFile& file, const ZeroName& name) {
    tensors_ = std::max(tensors_, name.tensor + 1);
    if (name.model) models_.push_back(&file);
    if (name.model && name.data < 0) single_models_.insert(name.tensor);
    if (name.model) models_of_[name.tensor].push_back(&file);
    if (name.data < 0) return;
    Ranks& ranks = name.model ? model_ranks_ : optimizers_;
    ranks.by_tensor[name.tensor].insert(name.data);
    ranks.data = std::max(ranks.data, name.data + 1);
    ranks.prefix = name.prefix;
    if (name.model) return;
    exam_.has(Piece::kOptimizer);
    parts_of_[name.tensor].push_back(&file);
    // Stages of a pipeline have layers of their own, which may be frozen for a time.
    optimizer_files_[pipelined_ ? name.tensor : 0].push_back(&file);
  }

  /// Stage 3 keeps all weights in the ranks' partitions; in the model's file are only those too small to be split, and
  /// with stage3_param_persistence_threshold 0 there are none.
  bool holds_partitions() const {
    if (model_ranks_.by_tensor.empty() || optimizer_files_.empty()) return false;
    for (const auto& [tensor, files] : optimizer_files_) {
      for (const TreeFile* file : files) {
        const FileDirectory& directory = exam_.directory(*file);
        if (directory.keys.count("optimizer_state_dict.fp32_flat_groups") == 0 || directory.content.bytes == 0)
          return false;
      }
    }
    return true;
  }

  /// The ranks' parts of the weights together are all that "param_shapes" ask for, and padding; more where parts are
  /// kept several times, or by experts. zero_to_fp32.py and a resume fail on less, or take what is not theirs.
  void require_all_numbers(int64_t data) {
    for (const auto& [tensor, files] : parts_of_) {
      uint64_t asked = 0, held = 0;
      for (const TreeFile* const model : models_of_[tensor])
        asked = std::max(asked, exam_.directory(*model).param_numbers);
      const TreeFile* least = nullptr;
      bool known = asked > 0 && static_cast<int64_t>(files.size()) >= data;  // else it is said which are missing
      for (const TreeFile* const file : files) {
        const FileDirectory& directory = exam_.directory(*file);
        const FileContent& content = directory.content;
        known = known && directory.proven && !directory.clipped && content.partition > 0 && !content.elsewhere;
        if (least == nullptr || content.partition < exam_.directory(*least).content.partition) least = file;
        held += content.partition;
      }
      if (known && held < asked)
        exam_.problem(Trouble::kContradicts, least->path,
                      cat("the weights in the ranks' files are ", held, " numbers, and ", asked,
                          " are in the shapes that the model's file lists: a part of them is lost"));
    }
  }

  void read_model() {
    for (const TreeFile* model : models_) {
      const FileDirectory& directory = exam_.directory(*model);
      const auto number = [&directory](const std::string& name) {
        const auto found = directory.numbers.find(name);
        return found == directory.numbers.end() ? int64_t{0} : std::clamp<int64_t>(found->second, 0, 1'000'000);
      };
      data_ = std::max(data_, number("dp_world_size"));
      tensors_ = std::max(tensors_, std::min<int64_t>(number("mp_world_size"), 10'000));
      stage_ = std::max(stage_, number("ds_config.zero_optimization.stage"));
      if (directory.numbers.count("global_steps") != 0) exam_.has(Piece::kStep);
      if (directory.keys.count("lr_scheduler") != 0) exam_.has(Piece::kScheduler);
      if (directory.keys.count("optimizer") != 0) exam_.has(Piece::kOptimizer);
      if (directory.keys.count("data_loader_state_dict") != 0) exam_.has(Piece::kDataloader);
    }
  }

  Examination& exam_;
  const std::string& folder_;
  std::vector<const TreeFile*> models_;
  std::set<int64_t> single_models_;
  std::map<int64_t, std::vector<const TreeFile*>> optimizer_files_;       // that have parts of the same parameters
  std::map<int64_t, std::vector<const TreeFile*>> parts_of_, models_of_;  // by tensor rank
  bool pipelined_ = false;
  Ranks optimizers_, model_ranks_;
  int64_t data_ = 0, tensors_ = 1, stage_ = 0;
};

void examine(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files) {
  Examiner(exam, folder).run(files);
}

}  // namespace

namespace layouts {
extern const CheckpointFormat deepspeed;
const CheckpointFormat deepspeed{"DeepSpeed ZeRO", examine};
}  // namespace layouts

}  // namespace mw
