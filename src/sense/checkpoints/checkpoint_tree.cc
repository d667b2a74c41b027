#include "sense/checkpoints/checkpoint_tree.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/other_worlds.h"
#include "sense/checkpoints/walk_files.h"

namespace mw {

Result<CheckpointTree> CheckpointTree::read(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  if (!info.ok()) return info.error();
  CheckpointTree tree;
  tree.root_ = path;
  while (tree.root_.size() > 1 && tree.root_.back() == '/') tree.root_.pop_back();
  if (info->kind == FileInfo::Kind::kFile) {
    tree.single_ = true;
    tree.root_ = folder_of(path);
    tree.add(std::string(basename(path)), *info);
  } else {
    if (const auto names = disk.list(tree.root_); !names.ok()) return names.error();
    tree.met_[""] = info->changed;
    tree.list(disk);
  }
  tree.sort();
  if (!tree.single_) tree.leave_out_other_worlds(disk);
  return tree;
}

std::set<std::pair<uint64_t, uint64_t>> CheckpointTree::own_folders(Disk& disk) const {
  std::set<std::pair<uint64_t, uint64_t>> out;
  // By ".." and not by its name: the path may lead through a link.
  std::string folder = root_;
  for (size_t i = 0; i < 64; ++i, folder += "/..") {
    const auto info = disk.info(folder);
    if (!info.ok() || info->inode == 0 || !out.emplace(info->device, info->inode).second) break;
  }
  return out;
}

void CheckpointTree::list(Disk& disk) {
  FileWalk walk{kFiles, kDepth};
  const std::set<std::pair<uint64_t, uint64_t>> above = own_folders(disk);
  std::map<std::string, std::pair<uint64_t, uint64_t>, std::less<>> entered;
  // Only a link does: to all that lies beside the checkpoint, or round in circles.
  const auto leads_upwards = [&above, &entered](const std::string& path, const FileInfo& info) {
    const std::pair<uint64_t, uint64_t> own(info.device, info.inode);
    if (info.inode == 0) return false;
    if (above.count(own) != 0) return true;
    for (std::string_view folder = folder_in_tree(path); !folder.empty(); folder = folder_in_tree(folder)) {
      const auto met = entered.find(folder);
      if (met != entered.end() && met->second == own) return true;
    }
    entered[path] = own;
    return false;
  };
  walk.passes_over = [this, &leads_upwards](const std::string& path, const FileInfo& info) {
    const std::string_view name = basename(path);
    if (name.starts_with(".midwatch")) return true;
    if (info.kind != FileInfo::Kind::kFolder) return is_no_part(name);
    // What lies beside the checkpoints of steps (a final export, AReaL's recover slot) is one for itself.
    if (step_of_name(name) != kNoStep && step_of_name(own_name()) == kNoStep) {
      holds_steps_ = true;
      return true;
    }
    if (leads_upwards(path, info)) {
      constexpr size_t kRefused = 100;
      if (refused_.size() < kRefused) refused_.push_back(path);
      return true;
    }
    met_[path] = info.changed;
    return false;
  };
  walk.file = [this](std::string path, const FileInfo& info) {
    add(std::move(path), info);
    return Result<void>();
  };
  walk.unseen = [this](Unseen why, const std::string& path, const Error& error) {
    constexpr size_t kDangling = 100;
    if (why == Unseen::kEntry && error.code == Error::Code::kNotFound) {  // or it went meanwhile: then the tree changed
      if (dangling_.size() < kDangling) dangling_.push_back(path);
      return Result<void>();
    }
    whole_ = whole_ && why == Unseen::kOther;  // a socket holds no weights
    if (unseen_.empty() && !error.what.empty()) unseen_ = cat(path, ": ", error.what);
    return Result<void>();
  };
  (void)walk_files(disk, root_, walk).ok();
}

void CheckpointTree::add(std::string path, const FileInfo& info) {
  TreeFile file;
  file.path = std::move(path);
  file.bytes = info.size;
  file.changed = info.changed;
  file.role = role_of(file.name());
  bytes_ += info.size;
  newest_ = std::max(newest_, info.changed);
  files_.push_back(std::move(file));
}

void CheckpointTree::sort() {
  std::sort(files_.begin(), files_.end(), [](const TreeFile& a, const TreeFile& b) { return a.path < b.path; });
  for (const TreeFile& file : files_)
    state_ = fnv1a(cat(file.path, " ", file.bytes, " ", file.changed.ns, "\n"), state_);
  sort_into_folders();
  for (const auto& [folder, changed] : met_) {
    const bool empty = folder.empty() ? files_.empty() : !has_folder(folder);
    if (empty) newest_empty_ = std::max(newest_empty_, changed);
    // DeepSpeed's conversion puts shards into a folder that is called pytorch_model.bin.
    const std::string_view ending = ending_of(basename(folder));
    const bool weights = empty && (is_weights_by_name(basename(folder)) || is_pickle_by_name(basename(folder)));
    if (ending == "json" || weights) in_place_.push_back(folder);
  }
  met_.clear();
}

void CheckpointTree::sort_into_folders() {
  folders_.clear();
  for (size_t i = 0; i < files_.size(); ++i) folders_[std::string(folder_in_tree(files_[i].path))].push_back(i);
}

void CheckpointTree::leave_out_other_worlds(Disk& disk) {
  OtherWorlds others = other_worlds_in(disk, root_, files_);
  if (others.files.empty()) return;
  left_over_ = std::move(others.files);
  left_over_notes_ = std::move(others.notes);
  std::erase_if(files_, [this](const TreeFile& file) {
    if (!is_left_over(file.path)) return false;
    bytes_ -= file.bytes;
    return true;
  });
  sort_into_folders();
}

std::string CheckpointTree::full(std::string_view path) const {
  return path.empty() ? root_ : cat(root_ == "/" ? "" : root_, "/", path);
}

std::string_view CheckpointTree::own_name() const { return basename(root_); }

const TreeFile* CheckpointTree::find(std::string_view path) const {
  const auto found = std::lower_bound(files_.begin(), files_.end(), path,
                                      [](const TreeFile& file, std::string_view wanted) { return file.path < wanted; });
  return found != files_.end() && found->path == path ? &*found : nullptr;
}

bool CheckpointTree::has_folder(std::string_view folder) const {
  if (folder.empty() || folders_.find(folder) != folders_.end()) return true;
  const std::string prefix = cat(folder, "/");
  const auto next = folders_.lower_bound(prefix);
  return next != folders_.end() && next->first.starts_with(prefix);
}

}  // namespace mw
