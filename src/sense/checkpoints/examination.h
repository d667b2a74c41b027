// One checkpoint under examination: its files, what was read of them so far, and what was found. Layouts
// (layouts/layout.h) ask it for files and put into it what they find.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/event.h"
#include "sense/checkpoints/checkpoint_tree.h"
#include "sense/checkpoints/file_directory.h"

namespace mw {

/// How deep a verification went, or at which depth something was found.
enum class CheckDepth : uint8_t { kStructural, kContent, kSane };
std::string_view word_of(CheckDepth depth);

struct CheckpointProblem {
  Trouble trouble = Trouble::kMissing;
  CheckDepth depth = CheckDepth::kStructural;
  std::string path;    ///< within the checkpoint
  std::string what;    ///< one sentence, without the path
  bool breaks = true;  ///< false: worth knowing, and no reason not to resume from it
};

/// What a trainer needs besides weights to go on where it was.
/// kPointer: the file in it by which its trainer finds the weights.
enum class Piece : uint8_t { kStep, kOptimizer, kScheduler, kDataloader, kRng, kCritic, kPointer };
constexpr size_t kPieces = 7;
std::string_view word_of(Piece piece);

/// An item of torch.distributed.checkpoint within a .distcp file.
struct DistributedItem {
  std::string name;
  uint64_t at = 0, bytes = 0;
  bool archive = false;  ///< a tensor that torch.save wrote, as far as the metadata says
  bool packed = false;   ///< it went through a transformation before it was written
};

/// Files of one optimizer that count the same steps of their own.
struct CountedSteps {
  size_t files = 0;  ///< 0: there were no two to compare
  int64_t steps = 0;
};

/// " (Permission denied)": the system's own words at the end of an error; "" where there are none.
std::string system_words(const Error& error);

class Examination {
 public:
  Examination(Disk& disk, const CheckpointTree& tree);

  const CheckpointTree& tree() const { return tree_; }
  Disk& disk() { return disk_; }

  /// All of a small file; nothing where it is larger than `limit` or cannot be read (which is then a problem).
  std::optional<std::string> text(const TreeFile& file, size_t limit);
  /// What a file says of its own content; read once. Without its ranges, and of its numbers only counters of steps and
  /// ranks: whoever needs the others reads the file again, as of all files together they may not fit memory.
  const FileDirectory& directory(const TreeFile& file);

  /// Likewise of a file outside of the checkpoint that belongs to it; `shown` is its path from the checkpoint.
  void look_outside(const std::string& path, const std::string& shown);

  void problem(Trouble trouble, std::string path, std::string what, bool breaks = true,
               CheckDepth depth = CheckDepth::kStructural);
  void has(Piece piece) { pieces_.insert(piece); }
  void lacks(Piece piece, bool breaks_resume = true) { (breaks_resume ? lacks_ : partly_).insert(piece); }
  void found_layout(std::string_view name) { layouts_.insert(std::string(name)); }
  void found_framework(std::string_view name) { framework_ = name; }
  void note(std::string_view text) { notes_.emplace_back(text); }
  /// The file at that path within it has some.
  void holds_weights(std::string_view path) {
    ++weights_;
    weights_in_.emplace(folder_in_tree(path));
  }
  void step_is(int64_t step, const std::string& by);
  /// The file that the trainer writes last is there, or is not; without a call none is known.
  void finished(bool there) { finished_ = there; }
  void add_items(std::string file, std::vector<DistributedItem> items) { items_[std::move(file)] = std::move(items); }

  /// The tensors of which a .metadata says how large each is, over all ranks.
  void has_shapes(std::string metadata, std::map<std::string, std::vector<int64_t>> shapes) {
    shapes_[std::move(metadata)] = std::move(shapes);
  }

  /// The folder of a tensor in the layout of zarr.
  void has_array(const std::string& folder, std::vector<int64_t> shape) { arrays_[folder] = std::move(shape); }
  /// Is there a file of that name in any folder? Looked for once.
  bool has_anywhere(std::string_view name);

  /// Optimizers in so many files have made as many steps by their own counters.
  void counted_steps(size_t files, int64_t steps) {
    if (files > counted_.files) counted_ = {files, steps};
  }

  /// The files directly in that folder are nothing but such numbers.
  void holds_numbers(const std::string& folder, Dtype dtype) { numbers_in_[folder] = dtype; }

  const std::vector<CheckpointProblem>& problems() const { return problems_; }
  const std::set<Piece>& pieces() const { return pieces_; }
  const std::set<Piece>& lacking() const { return lacks_; }
  const std::set<Piece>& partly_lacking() const { return partly_; }  ///< it resumes without
  const std::set<std::string>& layouts() const { return layouts_; }
  const std::string& framework() const { return framework_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::map<std::string, std::vector<DistributedItem>>& items() const { return items_; }
  const std::map<std::string, std::map<std::string, std::vector<int64_t>>>& shapes() const { return shapes_; }
  const std::map<std::string, std::vector<int64_t>, std::less<>>& arrays() const { return arrays_; }
  const std::map<std::string, Dtype, std::less<>>& numbers_in() const { return numbers_in_; }
  const CountedSteps& counted() const { return counted_; }  ///< of the optimizer in the most files
  /// All files of weights in it lie in folders of exports, and no rank's part or optimizer anywhere.
  bool only_exported() const { return only_exported_; }
  size_t weights() const { return weights_; }
  const std::set<std::string>& weights_in() const { return weights_in_; }  ///< folders with files that have some
  bool unknown() const { return unknown_; }  ///< something is larger than what is read, or could not be read
  int64_t step() const { return step_; }
  std::optional<bool> finished() const { return finished_; }
  Time newest_outside() const { return newest_outside_; }  ///< when the latest of those looked at was written
  /// Those looked at, by the path that is shown, and when each was written.
  const std::map<std::string, Time>& outside() const { return outside_; }
  bool broken() const;
  /// The disk did not give that file.
  bool is_unreadable(const std::string& path) const { return said_.count({Trouble::kUnreadable, path}) != 0; }
  uint64_t problems_in_all() const { return all_problems_; }

  static constexpr size_t kProblems = 1000;  ///< that are kept; the others are counted

 private:
  FileDirectory read(const std::string& full, int64_t bytes, const std::string& shown);
  void thin(FileDirectory& directory, bool weights);

  Disk& disk_;
  const CheckpointTree& tree_;
  size_t tensors_ = 0;
  std::map<std::string, std::unique_ptr<FileDirectory>> directories_;
  std::vector<CheckpointProblem> problems_;
  std::set<Piece> pieces_, lacks_, partly_;
  std::set<std::string> layouts_;
  std::string framework_;
  std::vector<std::string> notes_;
  std::map<std::string, std::vector<DistributedItem>> items_;
  std::map<std::string, std::map<std::string, std::vector<int64_t>>> shapes_;  // by .metadata
  std::map<std::string, Dtype, std::less<>> numbers_in_;
  std::map<std::string, std::vector<int64_t>, std::less<>> arrays_;  // shapes, by folder
  std::map<std::string, bool, std::less<>> anywhere_;
  CountedSteps counted_;
  size_t weights_ = 0;
  std::set<std::string> weights_in_;
  bool only_exported_ = false;
  std::set<std::pair<Trouble, std::string>> said_;  // of what is said once
  uint64_t all_problems_ = 0;
  bool unknown_ = false;
  int64_t step_ = kNoStep;
  std::string step_by_;
  std::optional<bool> finished_;
  Time newest_outside_;
  std::map<std::string, Time> outside_;
};

}  // namespace mw
