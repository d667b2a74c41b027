#include "sense/checkpoints/shared_bytes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/digest.h"
#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/save_times.h"

namespace mw {
namespace {

constexpr size_t kPairs = 4096;         // files that are compared, in all: few milliseconds of a local disk
constexpr uint64_t kBlock = 4 << 10;    // of a first sample
constexpr uint64_t kLarge = 256 << 10;  // of what looks equal
constexpr uint64_t kLargeBlocks = 256;  // of one file: 64 MB

/// Samples of `file`: "" where it cannot be read. The end has the directory of a zip archive with the CRC-32 of every
/// member; the others are numbers.
std::string sample_of(Disk& disk, const std::string& path, uint64_t bytes) {
  auto open = disk.open_read(path);
  if (!open.ok()) return "";
  ContentHash hash;
  std::string block;
  std::vector<uint64_t> places = {0};
  if (bytes > 3 * kBlock) places = {bytes - kBlock, bytes / 2, bytes / 4};
  const uint64_t size = bytes > 3 * kBlock ? kBlock : bytes;
  for (const uint64_t at : places) {
    if (!(*open)->read_at(at, size, block).ok() || block.size() < size) return "";
    hash.add(block);
  }
  return hash.hex();
}

/// Are they equal, in blocks all over them? `all`: in every byte.
bool equal_files(Disk& disk, const std::string& one, const std::string& other, uint64_t bytes, bool* all) {
  auto a = disk.open_read(one), b = disk.open_read(other);
  if (!a.ok() || !b.ok()) return false;
  const uint64_t blocks = (bytes + kLarge - 1) / kLarge;
  *all = *all || blocks <= kLargeBlocks;
  const uint64_t count = *all ? blocks : kLargeBlocks;
  std::string left, right;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = (*all ? i : i * blocks / count) * kLarge, size = std::min(kLarge, bytes - at);
    if (!(*a)->read_at(at, size, left).ok() || !(*b)->read_at(at, size, right).ok()) return false;
    if (left.size() < size || left != right) return false;
  }
  return true;
}

bool is_one_file(Disk& disk, const std::string& one, const std::string& other) {
  const auto a = disk.info(one), b = disk.info(other);
  return a.ok() && b.ok() && a->inode != 0 && a->inode == b->inode && a->device == b->device;
}

enum class Same : uint8_t { kNotKnown, kNo, kYes };

struct Beside {
  CheckpointTree tree;
  SaveTime save;
};

class Comparison {
 public:
  Comparison(Examination& exam, bool every_byte)
      : exam_(exam), every_byte_(every_byte), parts_(parts_of(exam.tree())), save_(save_time_of(exam.tree())) {}

  SharedBytesAnswer run(const std::vector<std::string>& beside) {
    for (const std::string& path : beside) take(path);
    SharedBytesAnswer answer;
    if (beside_.empty() || parts_.empty()) return answer;
    compare();
    for (const Beside& one : beside_) answer.compared.push_back(one.tree.root());
    for (size_t file = 0; file < parts_.size(); ++file) {
      if (auto found = judge(file)) answer.files.push_back(std::move(*found));
    }
    const bool none_breaks =
        std::none_of(answer.files.begin(), answer.files.end(), [](const SharedBytes& one) { return one.breaks; });
    if (auto found = none_breaks ? judge_all() : std::nullopt) answer.files = {std::move(*found)};
    return answer;
  }

 private:
  void take(const std::string& path) {
    auto tree = CheckpointTree::read(exam_.disk(), path);
    const int64_t own = step_of_name(exam_.tree().own_name());
    if (!tree.ok() || tree->root() == exam_.tree().root()) return;
    if (own == kNoStep || step_of_name(tree->own_name()) == own) return;
    const SaveTime save = save_time_of(*tree);
    beside_.push_back({std::move(*tree), save});
  }

  /// Fills the table: each part against the same of each checkpoint beside.
  void compare() {
    same_.assign(parts_.size(), std::vector<Same>(beside_.size(), Same::kNotKnown));
    std::vector<std::string> own(parts_.size());
    size_t pairs = 0;
    for (size_t other = 0; other < beside_.size(); ++other) {
      const CheckpointTree& tree = beside_[other].tree;
      for (size_t i = 0; i < parts_.size() && pairs < kPairs; ++i) {
        const TreeFile* const there = tree.find(parts_[i]->path);
        if (there == nullptr) continue;
        if (there->bytes != parts_[i]->bytes) {
          same_[i][other] = Same::kNo;
          continue;
        }
        ++pairs;
        const auto bytes = static_cast<uint64_t>(there->bytes);
        if (own[i].empty()) own[i] = sample_of(exam_.disk(), exam_.tree().full(parts_[i]->path), bytes);
        const std::string sample = sample_of(exam_.disk(), tree.full(there->path), bytes);
        if (own[i].empty() || sample.empty()) continue;
        same_[i][other] = sample == own[i] ? Same::kYes : Same::kNo;
      }
    }
  }

  /// The nearest of the checkpoints that is the same in all parts, though not by links.
  std::optional<SharedBytes> judge_all() {
    const int64_t own = step_of_name(exam_.tree().own_name());
    std::optional<size_t> nearest;
    const auto distance = [&](size_t other) { return std::abs(step_of_name(beside_[other].tree.own_name()) - own); };
    for (size_t other = 0; other < beside_.size(); ++other) {
      const bool all =
          std::all_of(same_.begin(), same_.end(), [other](const auto& row) { return row[other] == Same::kYes; });
      if (all && (!nearest || distance(other) < distance(*nearest))) nearest = other;
    }
    if (!nearest) return std::nullopt;
    const CheckpointTree& tree = beside_[*nearest].tree;
    SharedBytes out{"", tree.root(), SharedBytes::How::kAll, false, true};
    for (const TreeFile* part : parts_) {
      const std::string one = exam_.tree().full(part->path), that = tree.full(part->path);
      if (is_one_file(exam_.disk(), one, that)) return std::nullopt;
      bool all = every_byte_;
      if (!equal_files(exam_.disk(), one, that, static_cast<uint64_t>(part->bytes), &all)) return std::nullopt;
      out.all = out.all && all;
    }
    return out;
  }

  /// The one checkpoint whose file it has. Nothing where several have it: then it is frozen.
  std::optional<size_t> only_other(size_t file) const {
    const std::vector<Same>& row = same_[file];
    if (std::count(row.begin(), row.end(), Same::kYes) != 1) return std::nullopt;
    return static_cast<size_t>(std::find(row.begin(), row.end(), Same::kYes) - row.begin());
  }

  std::optional<SharedBytes> judge(size_t file) {
    const auto other = only_other(file);
    if (!other) return std::nullopt;
    const TreeFile& own = *parts_[file];
    const CheckpointTree& tree = beside_[*other].tree;
    const TreeFile& there = *tree.find(own.path);
    const bool apart = written_apart(own, save_) || written_after_later(own),
               there_apart = written_apart(there, beside_[*other].save);
    const bool cannot = cannot_stay(file, *other);
    if (there_apart && !apart) return std::nullopt;  // it is that one's that does not belong
    SharedBytes out{own.path, tree.root(), SharedBytes::How::kApart, true, every_byte_};
    const bool strong = apart && !there_apart;
    if (!strong && cannot) {
      const bool last = is_last(own, exam_.tree()), there_last = is_last(there, tree);
      if (there_last && !last) return std::nullopt;
      out.how = last && !there_last ? SharedBytes::How::kCannot : SharedBytes::How::kOneOfTwo;
    } else if (!strong) {
      out.breaks = changes_around(file, *other);
      if (!out.breaks && (!changes_elsewhere(file) || times_tell(*other))) return std::nullopt;
      out.how = SharedBytes::How::kOneOfTwo;
    }
    const std::string one = exam_.tree().full(own.path), that = tree.full(there.path);
    if (!cannot && is_one_file(exam_.disk(), one, that)) return std::nullopt;  // linked because nothing changed in it
    if (!equal_files(exam_.disk(), one, that, static_cast<uint64_t>(own.bytes), &out.all)) return std::nullopt;
    return out;
  }

  /// Of a checkpoint with too few files to say when it was saved: was this one written after a checkpoint of a later
  /// step?
  bool written_after_later(const TreeFile& file) const {
    constexpr Duration kApart = Duration::seconds(10);
    const int64_t step = step_of_name(exam_.tree().own_name());
    return !save_.known && std::any_of(beside_.begin(), beside_.end(), [&](const Beside& one) {
      return step_of_name(one.tree.own_name()) > step && one.tree.newest().known() &&
             file.changed - one.tree.newest() > kApart;
    });
  }

  /// Is it another one in another checkpoint: not frozen for good?
  bool changes_elsewhere(size_t file) const {
    return std::find(same_[file].begin(), same_[file].end(), Same::kNo) != same_[file].end();
  }

  /// It was another one between the two; or before and after both, and all of its kind are others in the two. What a
  /// trainer freezes or thaws stays so, and methods that train some layers at a time leave more than one as they are.
  bool changes_around(size_t file, size_t other) const {
    constexpr size_t kSisters = 2;
    const int64_t own = step_of_name(exam_.tree().own_name()), its = step_of_name(beside_[other].tree.own_name());
    bool before = false, after = false;
    for (size_t i = 0; i < beside_.size(); ++i) {
      const int64_t step = step_of_name(beside_[i].tree.own_name());
      if (same_[file][i] != Same::kNo || step == kNoStep) continue;
      if (step > std::min(own, its) && step < std::max(own, its)) return true;
      before = before || step < std::min(own, its);
      after = after || step > std::max(own, its);
    }
    if (!before || !after) return false;
    size_t differ = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (i == file || family_of(parts_[i]->path) != family_of(parts_[file]->path)) continue;
      if (same_[i][other] != Same::kNo) return false;
      ++differ;
    }
    return differ >= kSisters;
  }

  /// Both checkpoints have the times of two saves, one after the other.
  bool times_tell(size_t other) const {
    const SaveTime& there = beside_[other].save;
    return save_.known && there.known && (there.to < save_.from || save_.to < there.from);
  }

  static bool is_last(const TreeFile& file, const CheckpointTree& tree) {
    return std::all_of(tree.files().begin(), tree.files().end(), [&file](const TreeFile& one) {
      return &one == &file || one.path == file.path || one.changed < file.changed;
    });
  }

  // ---- what training cannot leave as it is while it changes the others
  bool cannot_stay(size_t file, size_t other) {
    const TreeFile& own = *parts_[file];
    const std::string family = family_of(own.path);
    size_t same = 0, differ = 0;
    bool weights_differ = false;
    for (size_t i = 0; i < parts_.size(); ++i) {
      weights_differ = weights_differ || (parts_[i]->role == FileRole::kWeights && same_[i][other] == Same::kNo);
      if (family_of(parts_[i]->path) != family) continue;
      same += same_[i][other] == Same::kYes ? 1 : 0;
      differ += same_[i][other] == Same::kNo ? 1 : 0;
    }
    const bool alone = same + differ == 1;
    if (own.role == FileRole::kOptimizer)
      return (alone ? weights_differ : same <= differ && differ > 0) && has_state(own);
    if (alone || same > differ) return false;
    return holds_optimizer(own) || optimizer_moved(own, other);
  }

  /// An optimizer that counts or averages has tensors for each parameter; plain SGD has none.
  bool has_state(const TreeFile& file) {
    auto open = exam_.disk().open_read(exam_.tree().full(file.path));
    if (!open.ok()) return false;
    const FileDirectory directory = read_directory(**open, file.name(), static_cast<uint64_t>(file.bytes));
    size_t tensors = 0;
    for (const ByteRange& range : directory.ranges) tensors += range.dtype != Dtype::kOther && range.bytes > 0 ? 1 : 0;
    return tensors >= 2;
  }

  bool holds_optimizer(const TreeFile& file) const {
    if (file.name() == "model_optim_rng.pt") return true;
    const auto items = exam_.items().find(file.path);
    return items != exam_.items().end() &&
           std::any_of(items->second.begin(), items->second.end(), [](const DistributedItem& item) {
             return contains(item.name, "optim") || contains(item.name, "exp_avg");
           });
  }

  /// Of the same rank: what it averaged of these weights' gradients is another one.
  bool optimizer_moved(const TreeFile& file, size_t other) const {
    if (rank_shard_of(file.name()).of < 2 || !file.name().starts_with("model")) return false;
    const std::string wanted = beside(file.path, cat("optim", file.name().substr(5)));
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i]->path == wanted) return same_[i][other] == Same::kNo;
    }
    return false;
  }

  Examination& exam_;
  const bool every_byte_;
  const std::vector<const TreeFile*> parts_;
  const SaveTime save_;
  std::vector<Beside> beside_;
  std::vector<std::vector<Same>> same_;  // by part and checkpoint beside
};

}  // namespace

std::string sentence_of(const SharedBytes& one) {
  using How = SharedBytes::How;
  const std::string_view other = basename(one.other);
  const std::string_view deep = one.all ? "" : " (--deep compares every byte)";
  if (one.how == How::kAll) {
    return cat(one.all ? "all that training changes in it is, to the last byte, that of "
                       : "all that training changes in it is, in samples all over it, that of ",
               other, deep, ": nothing was learned between the two, or one is a copy of the other");
  }
  const std::string what =
      cat(one.all ? "every byte of it is that of " : "samples all over it are those of ", other, deep);
  if (!one.breaks) {
    return cat(
        what,
        ", and it differs in other checkpoints: either nothing changed it between the two, or one of them has the "
        "other's");
  }
  switch (one.how) {
    case How::kApart:
      return cat(what, ", and it was written apart from all others here: it seems to be of that one");
    case How::kCannot:
      return cat(what, ", what was saved with it is not, and it was written last: it seems to be of that one");
    default:
      return cat(what, ", and what was saved with it is not: one of the two checkpoints has the other's");
  }
}

SharedBytesAnswer bytes_of_another(Examination& exam, const std::vector<std::string>& beside, bool every_byte) {
  return Comparison(exam, every_byte).run(beside);
}

bool not_copied_from(Disk& disk, const CheckpointTree& tree, const std::string& path, const std::string& other) {
  const std::string own = tree.full(path), there = cat(other, "/", path);
  const auto a = disk.info(own), b = disk.info(there);
  if (!a.ok() || !b.ok()) return false;  // it may have been moved from there
  bool all = false;
  return a->size != b->size || is_one_file(disk, own, there) ||
         !equal_files(disk, own, there, static_cast<uint64_t>(a->size), &all);
}

}  // namespace mw
