// The files of a checkpoint as the disk lists them: names, sizes and times, bounded, without opening any.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/disk.h"
#include "sense/checkpoints/file_role.h"

namespace mw {

struct TreeFile {
  std::string path;  ///< within the checkpoint
  int64_t bytes = 0;
  Time changed;
  FileRole role = FileRole::kUnknown;
  std::string_view name() const {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string_view(path) : std::string_view(path).substr(slash + 1);
  }
};

class CheckpointTree {
 public:
  /// Bounds of one checkpoint.
  static constexpr size_t kFiles = 100'000;
  static constexpr int kDepth = 10;

  /// `path`: a folder, or one file. An error where it is not there or cannot be listed.
  static Result<CheckpointTree> read(Disk& disk, const std::string& path);

  const std::string& root() const { return root_; }              ///< the folder, absolute or as given
  std::string full(std::string_view path) const;                 ///< of a path within it
  std::string_view own_name() const;                             ///< the folder's last component
  const std::vector<TreeFile>& files() const { return files_; }  ///< in byte order of their paths
  const TreeFile* find(std::string_view path) const;
  bool has(std::string_view path) const { return find(path) != nullptr; }
  /// Folders that hold files, "" is the checkpoint itself; with the numbers of the files directly in them.
  const std::map<std::string, std::vector<size_t>, std::less<>>& folders() const { return folders_; }
  /// Is there anything below that folder?
  bool has_folder(std::string_view folder) const;
  bool single_file() const { return single_; }
  bool seen_whole() const { return whole_; }  ///< false: something could not be listed, or is beyond the bounds
  /// What was not seen, the first of it: "actor: cannot list /ck/actor: Permission denied"; "" where it was all, or too
  /// much.
  const std::string& unseen() const { return unseen_; }
  /// Links that lead nowhere.
  const std::vector<std::string>& dangling() const { return dangling_; }
  /// Links to a folder that they lie in, the checkpoint itself or one above it: nothing is looked for behind them.
  const std::vector<std::string>& refused() const { return refused_; }
  /// Is it a file that an earlier save by another number of ranks left (other_worlds.h)? `files` has none of these.
  bool is_left_over(std::string_view path) const { return left_over_.find(path) != left_over_.end(); }
  /// A sentence for each folder that has such files.
  const std::vector<std::string>& left_over() const { return left_over_notes_; }
  /// Folders with the name of a file of settings, or empty ones with any file's ("model.safetensors"): in its place.
  const std::vector<std::string>& in_place_of_files() const { return in_place_; }
  /// Checkpoints of steps lie somewhere below it: each is one for itself.
  bool holds_steps() const { return holds_steps_; }
  int64_t bytes() const { return bytes_; }
  Time newest() const { return newest_; }
  /// When the latest of the folders without a file in or below them was made, or emptied; unknown where there is none.
  Time newest_empty_folder() const { return newest_empty_; }
  uint64_t state() const { return state_; }  ///< of names, sizes and times: the same number means that nothing changed

 private:
  void list(Disk& disk);
  /// Its own folder and those above it, by device and inode.
  std::set<std::pair<uint64_t, uint64_t>> own_folders(Disk& disk) const;
  void add(std::string path, const FileInfo& info);
  void sort();
  void leave_out_other_worlds(Disk& disk);
  void sort_into_folders();

  std::string root_;
  std::vector<TreeFile> files_;
  std::map<std::string, std::vector<size_t>, std::less<>> folders_;
  bool single_ = false, whole_ = true, holds_steps_ = false;
  std::string unseen_;
  std::vector<std::string> dangling_, refused_, in_place_, left_over_notes_;
  std::set<std::string, std::less<>> left_over_;
  int64_t bytes_ = 0;
  Time newest_, newest_empty_;
  std::map<std::string, Time, std::less<>> met_;  // folders, while they are listed
  uint64_t state_ = 0;
};

}  // namespace mw
