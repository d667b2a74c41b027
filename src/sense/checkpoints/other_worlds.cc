#include "sense/checkpoints/other_worlds.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "platform/durable.h"
#include "sense/checkpoints/checkpoint_tree.h"
#include "sense/checkpoints/file_directory.h"
#include "sense/checkpoints/rank_names.h"

namespace mw {
namespace {

using Files = std::vector<const TreeFile*>;

/// Another save needs another trainer, which starts, reads its model and comes to the same step before.
constexpr Duration kBetweenSaves = Duration::seconds(60);

const TreeFile* latest_of(const Files& files) {
  const auto latest = std::max_element(files.begin(), files.end(),
                                       [](const TreeFile* a, const TreeFile* b) { return a->changed < b->changed; });
  return latest == files.end() ? nullptr : *latest;
}

class Finder {
 public:
  Finder(Disk& disk, const std::string& root) : disk_(disk), root_(root) {}

  void look_at_fsdp(const std::string& folder, const Files& files) {
    std::map<int64_t, std::map<std::string, int64_t>> worlds;  // files of each family
    for (const TreeFile* file : files) {
      const RankShard shard = rank_shard_of(file->path);
      ++worlds[shard.of][shard.family];
    }
    if (worlds.size() < 2) return;
    // The first rank says how many there are once its own files are done.
    const int64_t said = world_said_in(folder);
    const auto own = worlds.find(said);
    const bool done = own != worlds.end() && std::all_of(own->second.begin(), own->second.end(),
                                                         [said](const auto& one) { return one.second == said; });
    const int64_t world = done ? said : rank_shard_of(latest_of(files)->path).of;
    leave_out(
        folder, files, [world](const TreeFile& file) { return rank_shard_of(file.path).of == world; },
        cat(world, world == 1 ? " rank" : " ranks"), "", done ? Duration() : kBetweenSaves);
  }

  void look_at_zero(const std::string& folder, const Files& files) {
    if (may_be_one_save(files)) return;
    Files models;
    for (const TreeFile* file : files) {
      if (zero_name_of(file->name())->model) models.push_back(file);
    }
    const FileDirectory says = read(latest_of(models));
    const int64_t data = number_in(says, "dp_world_size"), tensors = number_in(says, "mp_world_size");
    if (data < 1) return;
    const auto is_own = [&](const TreeFile& file) {
      const auto name = zero_name_of(file.name());
      return name->data < data && (tensors < 1 || name->tensor < tensors);
    };
    leave_out(folder, files, is_own, cat(data, " x ", std::max<int64_t>(tensors, 1), " ranks"),
              " (DeepSpeed's zero_to_fp32.py refuses the folder while they are there)");
  }

  void look_at_megatron(const std::string& above, const Files& files) {
    if (may_be_one_save(files)) return;
    Files models;
    for (const TreeFile* file : files) {
      if (file->name() == "model_optim_rng.pt") models.push_back(file);
    }
    const FileDirectory says = read(latest_of(models));
    const int64_t tensors = number_in(says, "args.tensor_model_parallel_size"),
                  stages = number_in(says, "args.pipeline_model_parallel_size");
    // Where experts are split a folder's second number may be theirs.
    if (tensors < 1 || stages < 1 || number_in(says, "args.expert_model_parallel_size") > 1) return;
    const auto is_own = [&](const TreeFile& file) {
      const auto rank = megatron_rank_of(basename(folder_in_tree(file.path)));
      return rank->tensor < tensors && rank->pipeline < stages && rank->names_pipeline == (stages > 1);
    };
    leave_out(above, files, is_own, cat(tensors, " x ", stages, " ranks"), "");
  }

  OtherWorlds take() { return std::move(out_); }

 private:
  FileDirectory read(const TreeFile* file) {
    if (file == nullptr || file->bytes < 0) return {};
    auto open = disk_.open_read(cat(root_, "/", file->path));
    return open.ok() ? read_directory(**open, file->name(), static_cast<uint64_t>(file->bytes)) : FileDirectory();
  }
  /// The world size in FSDP's settings beside the files; 0: none.
  int64_t world_said_in(const std::string& folder) {
    const auto text = read_small(disk_, cat(root_, "/", folder, folder.empty() ? "" : "/", "fsdp_config.json"));
    const auto json = text.ok() ? Json::parse(*text) : Result<Json>(text.error());
    return json.ok() && json->is_object() ? json->integer_or("world_size", 0) : 0;
  }
  /// Then nothing is read: no two saves are so close.
  static bool may_be_one_save(const Files& files) {
    const auto [first, last] = std::minmax_element(
        files.begin(), files.end(), [](const TreeFile* a, const TreeFile* b) { return a->changed < b->changed; });
    return files.empty() || (*last)->changed - (*first)->changed < kBetweenSaves;
  }
  static int64_t number_in(const FileDirectory& directory, const std::string& name) {
    const auto found = directory.numbers.find(name);
    return found == directory.numbers.end() ? 0 : found->second;
  }

  void leave_out(const std::string& folder, const Files& files, const std::function<bool(const TreeFile&)>& is_own,
                 const std::string& ranks, std::string_view more, Duration between = kBetweenSaves) {
    Files own, others;
    for (const TreeFile* file : files) (is_own(*file) ? own : others).push_back(file);
    if (own.empty() || others.empty()) return;
    const Time before = latest_of(others)->changed;
    const bool apart = std::all_of(
        own.begin(), own.end(), [before, between](const TreeFile* file) { return file->changed - before >= between; });
    if (!apart) return;
    for (const TreeFile* file : others) out_.files.insert(file->path);
    out_.notes.push_back(cat(folder.empty() ? "in it" : folder, others.size() == 1 ? " lies " : " lie ", others.size(),
                             others.size() == 1 ? " file" : " files",
                             " of an earlier save by another number of ranks, which a trainer of ", ranks,
                             " never reads: ", others.front()->path, others.size() > 1 ? ", …" : "", more));
  }

  Disk& disk_;
  const std::string& root_;
  OtherWorlds out_;
};

}  // namespace

OtherWorlds other_worlds_in(Disk& disk, const std::string& root, const std::vector<TreeFile>& files) {
  std::map<std::string, Files> fsdp, zero, megatron;  // by folder; Megatron's by the one above those of the ranks
  for (const TreeFile& file : files) {
    const std::string folder(folder_in_tree(file.path));
    if (rank_shard_of(file.name()).of > 0) {
      fsdp[folder].push_back(&file);
    } else if (zero_name_of(file.name())) {
      zero[folder].push_back(&file);
    } else if (megatron_rank_of(basename(folder))) {
      megatron[std::string(folder_in_tree(folder))].push_back(&file);
    }
  }
  Finder finder(disk, root);
  for (const auto& [folder, of] : fsdp) finder.look_at_fsdp(folder, of);
  for (const auto& [folder, of] : zero) finder.look_at_zero(folder, of);
  for (const auto& [folder, of] : megatron) finder.look_at_megatron(folder, of);
  return finder.take();
}

}  // namespace mw
