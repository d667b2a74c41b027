// FSDP's files by rank, as verl and SkyRL write them: model_, optim_ and extra_state_world_size_W_rank_R.pt.
#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

struct Family {
  int64_t of = 0;
  std::set<int64_t> ranks;
  std::vector<const TreeFile*> files;
};

/// Each rank has a part of every weight, or an empty one, under its name.
void require_same_names(Examination& exam, const std::vector<const TreeFile*>& files) {
  std::map<std::string_view, size_t> ranks;  // that have it, by name
  for (const TreeFile* file : files) {
    const FileDirectory& directory = exam.directory(*file);
    if (!directory.proven || directory.clipped || directory.keys.empty()) return;
    for (const std::string& key : directory.keys) ++ranks[key];
  }
  for (const TreeFile* file : files) {
    const std::set<std::string>& own = exam.directory(*file).keys;
    size_t missing = 0;
    std::string_view first;
    for (const auto& [name, having] : ranks) {
      if (having * 2 < files.size() || own.count(std::string(name)) != 0) continue;
      if (++missing == 1) first = name;
    }
    if (missing == 0 || missing * 2 > ranks.size()) continue;
    const auto with = std::find_if(files.begin(), files.end(), [&](const TreeFile* one) {
      return exam.directory(*one).keys.count(std::string(first)) != 0;
    });
    return exam.problem(Trouble::kUnlike, file->path,
                        cat(clip(sanitize_utf8(first), 200), missing > 1 ? cat(" (and ", missing - 1, " more)") : "",
                            " is not in it, and is in ", (*with)->name(), ": ranks of one model have the same names"));
  }
}

void check_family(Examination& exam, const std::string& folder, const std::string& name, const Family& family) {
  constexpr int64_t kShown = 20;
  int64_t missing = family.of - static_cast<int64_t>(family.ranks.size());
  for (int64_t rank = 0, shown = 0; rank < family.of && shown < kShown && missing > 0; ++rank) {
    if (family.ranks.count(rank) != 0) continue;
    std::string wanted = name;
    wanted.replace(wanted.find('#'), 1, cat(rank));
    exam.problem(Trouble::kMissing, in_folder(folder, wanted),
                 cat("it is missing: ", family.ranks.size(), " of ", family.of, " ranks are there"));
    ++shown;
    --missing;
  }
  if (missing > 0) exam.problem(Trouble::kMissing, in_folder(folder, name), cat(missing, " more ranks are missing"));
  constexpr std::array<std::string_view, 3> kSame = {"lr_scheduler.last_epoch", "last_epoch", "global_step"};
  require_same_numbers(exam, family.files, kSame);
  require_same_steps(exam, family.files);
  if (name.starts_with("model_")) require_same_names(exam, family.files);
  require_own_rank(exam, family.files, name.starts_with("extra_state"));
}

void examine(Examination& exam, const std::string& folder, const std::vector<const TreeFile*>& files) {
  std::map<std::string, Family> families;
  std::set<int64_t> sizes;
  for (const TreeFile* file : files) {
    const RankShard shard = rank_shard_of(file->name());
    if (shard.of <= 0 || shard.of > 1'000'000) continue;
    Family& family = families[shard.family];
    family.of = shard.of;
    family.ranks.insert(shard.number);
    family.files.push_back(file);
    sizes.insert(shard.of);
    if (file->name().starts_with("optim")) exam.has(Piece::kOptimizer);
    if (!file->name().starts_with("extra_state")) continue;
    exam.has(Piece::kScheduler);
    exam.has(Piece::kRng);
  }
  if (families.empty()) return;
  exam.found_layout("FSDP ranks");
  // One file of extra state for each rank holds both.
  if (exam.pieces().count(Piece::kScheduler) == 0) exam.lacks(Piece::kScheduler);
  if (exam.pieces().count(Piece::kRng) == 0) exam.lacks(Piece::kRng);
  if (exam.tree().single_file()) return;
  for (const auto& [name, family] : families) check_family(exam, folder, name, family);
  if (sizes.size() > 1) {
    exam.problem(Trouble::kMixed, folder,
                 cat("files of ", sizes.size(), " world sizes lie in it: ", *sizes.begin(), " and ", *sizes.rbegin()));
  }
  const TreeFile* const config = exam.tree().find(in_folder(folder, "fsdp_config.json"));
  const auto text = config == nullptr ? std::nullopt : exam.text(*config, 1 << 20);
  const auto json = text ? Json::parse(*text) : Result<Json>(Error{});
  if (json.ok() && json->is_object()) {
    const int64_t world = json->integer_or("world_size", 0);
    if (world > 0 && sizes.count(world) == 0)
      exam.problem(Trouble::kContradicts, config->path,
                   cat("it says a world size of ", world, ", and the files are of ", *sizes.begin()));
  }
}

}  // namespace

namespace layouts {
extern const CheckpointFormat fsdp_ranks;
const CheckpointFormat fsdp_ranks{"FSDP ranks", examine};
}  // namespace layouts

}  // namespace mw
