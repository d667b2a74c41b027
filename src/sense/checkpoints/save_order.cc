#include "sense/checkpoints/save_order.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/text.h"

namespace mw {
namespace {

constexpr double kSlowest = 20e6;                         // bytes a second of a copy
constexpr double kLeast = 60, kClocks = 300;              // seconds
constexpr Duration kClockOfDisk = Duration::seconds(60);  // a file server's may be ahead

/// "actor" of "actor/model/dist_ckpt/x".
std::string_view first_folder(std::string_view path) { return path.substr(0, path.find('/')); }

bool is_rank_file(const TreeFile& file) {
  return rank_shard_of(file.path).of > 0 && may_be_of_torch(file.name()) && !is_export(file.path);
}

class Orders {
 public:
  explicit Orders(const CheckpointTree& tree) : tree_(tree) {}

  /// `place_of`: of a file that each save writes; -1 of all others.
  template <typename PlaceOf>
  void add(PlaceOf place_of) {
    SaveOrder group;
    for (const TreeFile& file : tree_.files()) {
      const int place = file.changed.known() ? place_of(file) : -1;
      if (place >= 0) group.push_back({&file, place});
    }
    if (group.size() > 1) out_.push_back(std::move(group));
  }

  /// What torch.distributed.checkpoint and Megatron put into one folder.
  void add_distributed() {
    for (const auto& [folder, files] : tree_.folders()) {
      if (is_export(cat(folder, "/"))) continue;
      add([&own = folder](const TreeFile& file) {
        if (folder_in_tree(file.path) != own) return -1;
        if (ending_of(file.name()) == "distcp") return 0;
        return file.name() == ".metadata" ? 1 : file.name() == "metadata.json" ? 2 : -1;
      });
    }
  }

  std::vector<SaveOrder> take() { return std::move(out_); }

 private:
  const CheckpointTree& tree_;
  std::vector<SaveOrder> out_;
};

std::string slot_of(const CheckpointTree& tree) {
  for (const auto& [folder, files] : tree.folders()) {
    if (basename(folder) == "recover_checkpoint") return folder;
  }
  return "";
}

int place_in_areal(const TreeFile& file, const std::string& weights) {
  if (file.path == "recover_info/dataloader_info.pkl") return 3;
  if (file.path.starts_with("recover_info/") && ending_of(file.name()) == "json") return 2;
  if (weights.empty() || !file.path.starts_with(cat(weights, "/"))) return -1;
  if (file.name() == ".metadata") return 1;
  return ending_of(file.name()) == "distcp" ? 0 : -1;
}

/// Of FSDP. With Megatron a save may end in the background, after what lies outside of the roles' folders.
int place_in_verl(const TreeFile& file) {
  if (is_rank_file(file)) return first_folder(file.path) == "critic" ? 1 : 0;
  return file.path == "data.pt" ? 2 : -1;
}
int place_in_skyrl(const TreeFile& file) {
  if (is_rank_file(file)) return first_folder(file.path) == "critic" ? 1 : 0;
  return file.path == "data.pt" ? 2 : file.path == "trainer_state.pt" ? 3 : -1;
}
/// Of one role; its manifest comes when all parts are there.
int place_in_verl_megatron(const TreeFile& file, std::string_view role) {
  if (first_folder(file.path) != role) return -1;
  if (file.name() == "ckpt_contents.json") return 1;
  return basename(folder_in_tree(file.path)) == "dist_ckpt" ? 0 : -1;
}
/// Of random states each process writes its own, at any time.
int place_in_transformers(const TreeFile& file) {
  if (file.path == "trainer_state.json") return 2;
  if (is_export(file.path) || file.path.starts_with("rng_state")) return -1;
  if (file.path == "scheduler.pt" || file.path.starts_with("optimizer")) return 1;
  return file.role == FileRole::kWeights || file.role == FileRole::kOptimizer || ending_of(file.name()) == "distcp"
             ? 0
             : -1;
}
int place_in_openrlhf(const TreeFile& file) {
  if (file.name().ends_with("_model_states.pt") || file.name().ends_with("_optim_states.pt")) return 0;
  return file.path == "metric.json" ? 1 : -1;
}

bool has_rank_files(const CheckpointTree& tree) {
  return std::any_of(tree.files().begin(), tree.files().end(), is_rank_file);
}

/// It wrote what is new here, and what is old is of an earlier one. One that resumed from here may have put files into
/// it that no save writes.
bool cut_by(const CutSave& cut, int64_t step, const EndedAttempt& attempt) {
  if (!attempt.began.known() || !attempt.until.known() || step == kNoStep || attempt.last_step == kNoStep) return false;
  if (attempt.first_step == kNoStep || attempt.first_step >= step) return false;
  return cut.before < attempt.began && cut.from >= attempt.began && cut.until <= attempt.until &&
         std::abs(attempt.last_step - step) <= 1;
}

bool is_reported(const Examination& exam, const CutSave& cut) {
  return std::any_of(exam.problems().begin(), exam.problems().end(), [&](const CheckpointProblem& one) {
    return one.path == cut.kept->path || one.path == cut.made->path;
  });
}

std::string time_text(Time at) { return cat(format_utc(at).substr(0, 19), "Z"); }

}  // namespace

std::vector<EndedAttempt> ended_attempts(const State& state) {
  std::vector<EndedAttempt> out;
  const auto& lives = state.supervision.attempts;
  if (lives.size() != state.attempts.size()) return out;  // which of them reached which step is not known
  for (size_t i = 0; i < lives.size(); ++i) {
    if (!lives[i].exited || !lives[i].started_at.known() || !lives[i].exited_at.known()) continue;
    Time until = lives[i].exited_at + kClockOfDisk;
    if (i + 1 < lives.size() && lives[i + 1].started_at.known()) until = std::min(until, lives[i + 1].started_at);
    out.push_back({lives[i].started_at, until, state.attempts[i].first_step, state.attempts[i].last_step});
  }
  return out;
}

std::vector<SaveOrder> orders_of_save(const CheckpointTree& tree, std::string_view framework) {
  Orders orders(tree);
  if (framework == "areal") {
    if (tree.has_folder("recover_info"))
      orders.add([weights = slot_of(tree)](const TreeFile& file) { return place_in_areal(file, weights); });
    return orders.take();
  }
  if (framework == "verl" && has_rank_files(tree)) orders.add(place_in_verl);
  if (framework == "skyrl" && has_rank_files(tree)) orders.add(place_in_skyrl);
  if (framework == "transformers") orders.add(place_in_transformers);
  if (framework == "openrlhf") orders.add(place_in_openrlhf);
  for (const std::string_view role : {"actor", "critic"}) {
    if (framework == "verl") orders.add([role](const TreeFile& file) { return place_in_verl_megatron(file, role); });
  }
  orders.add_distributed();
  return orders.take();
}

std::optional<CutSave> cut_save(SaveOrder files) {
  const auto earlier = [](const auto& a, const auto& b) { return a.file->changed < b.file->changed; };
  std::stable_sort(files.begin(), files.end(), earlier);
  const auto by_place = [](const auto& a, const auto& b) { return a.place < b.place; };
  // Bytes of all that a copy has not brought before the pause. A store may date a large file when its upload begins.
  double follow = 0;
  for (const PlacedFile& one : files) follow += static_cast<double>(one.file->bytes);
  for (auto one = files.begin(); one != files.end() && std::next(one) != files.end(); ++one) {
    const auto late = std::next(one);
    const double seconds = follow / kSlowest;
    follow -= static_cast<double>(one->file->bytes);
    const Duration pause = late->file->changed - one->file->changed;
    if (pause <= Duration::seconds(kLeast + seconds)) continue;
    const auto [old_first, old_last] = std::minmax_element(files.begin(), late, by_place);
    const auto [new_first, new_last] = std::minmax_element(late, files.end(), by_place);
    if (new_first->place >= old_last->place) continue;
    // Where only some are concerned, clocks of several machines may be a little apart.
    const bool all = new_last->place < old_first->place;
    if (!all && pause <= Duration::seconds(kClocks + seconds)) continue;
    return CutSave{old_last->file, new_first->file, one->file->changed, late->file->changed,
                   files.back().file->changed};
  }
  return std::nullopt;
}

CutSaveAnswer look_for_cut_save(Examination& exam, const std::vector<EndedAttempt>& attempts) {
  const bool slot = exam.framework() == "areal";
  for (SaveOrder& order : orders_of_save(exam.tree(), exam.framework())) {
    const auto cut = cut_save(std::move(order));
    if (!cut) continue;
    const bool shown = std::any_of(attempts.begin(), attempts.end(),
                                   [&](const EndedAttempt& one) { return cut_by(*cut, exam.step(), one); });
    if (slot || shown) exam.finished(false);
    if (!slot && !shown && (exam.broken() || is_reported(exam, *cut))) return {};
    const std::string_view what =
        slot    ? "a save over the one before was cut, and what lies here is of two steps"
        : shown ? "the attempt that saved over an earlier save of this step ended before it was done, and what lies "
                  "here is of both"
                : "a save over an earlier one of this step was cut, and what lies here is of both, unless a copy gave "
                  "these times";
    exam.problem(Trouble::kOtherTime, cut->kept->path,
                 cat("it was written at ", time_text(cut->kept->changed), ", and ", cut->made->path,
                     ", which each save writes before it, at ", time_text(cut->made->changed), ": ", what),
                 slot || shown);
    return {true, shown};
  }
  return {};
}

}  // namespace mw
