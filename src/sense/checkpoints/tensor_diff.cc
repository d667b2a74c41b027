#include "sense/checkpoints/tensor_diff.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/examination.h"
#include "sense/checkpoints/find.h"
#include "sense/checkpoints/frozen.h"
#include "sense/checkpoints/layouts/distributed.h"
#include "sense/checkpoints/layouts/layout.h"

namespace mw {
namespace {

constexpr uint64_t kPiece = 256 << 10;

struct Place {
  Dtype dtype = Dtype::kOther;
  std::vector<int64_t> shape;
  size_t file = 0;  ///< number of the tree's files
  uint64_t at = 0, bytes = 0;
};

/// How many ranks there were at least, by the name of one's file: "model_world_size_4_rank_0.pt", "__3_0.distcp",
/// "bf16_zero_pp_rank_3_mp_rank_00_optim_states.pt".
int64_t ranks_by_name(std::string_view path) {
  if (const int64_t of = rank_shard_of(path).of; of > 0) return of;
  const std::string_view name = basename(path);
  const std::string_view before = ending_of(name) == "distcp" ? "__" : "_pp_rank_";
  const size_t at = name.find(before);
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = name.substr(at + before.size());
  const auto rank = parse_int(digits.substr(0, digits.find('_')));
  return rank && *rank >= 0 && *rank < 1'000'000 ? *rank + 1 : 0;
}

/// The tensors of one checkpoint, by name.
class Tensors {
 public:
  Tensors(Disk& disk, CheckpointTree tree) : disk_(disk), tree_(std::move(tree)) {
    for (size_t i = 0; i < tree_.files().size(); ++i) take(i);
  }

  const std::map<std::string, Place>& places() const { return places_; }
  bool clipped() const { return clipped_; }
  uint64_t bytes() const { return bytes_; }
  const std::map<std::string, std::string>& unread() const { return unread_; }
  int64_t ranks() const { return ranks_; }
  /// The first tensor whose numbers do not lie one after the other; "": there is none.
  const std::string& view() const { return view_; }

  bool read(const Place& place, uint64_t from, uint64_t size, std::string& out) {
    if (open_ == nullptr || open_number_ != place.file) {
      auto open = disk_.open_read(tree_.full(tree_.files()[place.file].path));
      if (!open.ok()) return false;
      open_ = std::move(*open);
      open_number_ = place.file;
    }
    return open_->read_at(place.at + from, size, out).ok() && out.size() == size;
  }

 private:
  void take(size_t number) {
    const TreeFile& file = tree_.files()[number];
    ranks_ = std::max(ranks_, ranks_by_name(file.path));
    if (is_export(file.path) && tree_.folders().size() > 1) return;
    if (file.name() == ".metadata") return take_distributed(file);
    if (ending_of(file.name()) != "safetensors" && !may_be_of_torch(file.name())) return;
    auto open = disk_.open_read(tree_.full(file.path));
    if (!open.ok()) return cannot_read(file.path, "it cannot be opened");
    // Every rank, and every part of the state, has names that others have, too.
    const bool own =
        file.role != FileRole::kWeights || rank_shard_of(file.path).of > 0 || contains(file.path, "_rank_");
    const std::string prefix = own && !tree_.single_file() ? cat(file.path, ":") : "";
    const FileDirectory directory = read_directory(**open, file.name(), static_cast<uint64_t>(file.bytes));
    clipped_ = clipped_ || directory.clipped;
    if (!directory.found.empty()) cannot_read(file.path, directory.found.front().what);
    for (const TensorPlace& tensor : directory.tensors) keep(cat(prefix, tensor.name), tensor, number);
  }

  void take_distributed(const TreeFile& metadata) {
    Examination exam(disk_, tree_);
    const auto text = exam.text(metadata, size_t{64} << 20);
    const auto index = text ? parse_distributed_metadata(*text) : Result<DistributedIndex>(Error{});
    if (!index.ok()) return cannot_read(metadata.path, "what it says cannot be read");
    for (const auto& [name, items] : index->files) {
      const TreeFile* const file = tree_.find(beside(metadata.path, name));
      auto open =
          file == nullptr ? Result<std::unique_ptr<ReadFile>>(Error{}) : disk_.open_read(tree_.full(file->path));
      if (!open.ok()) {
        cannot_read(beside(metadata.path, name), file == nullptr ? "it is missing" : "it cannot be opened");
        continue;
      }
      const auto number = static_cast<size_t>(file - tree_.files().data());
      for (const DistributedItem& item : items) {
        const bool there = item.at + item.bytes <= static_cast<uint64_t>(file->bytes);
        const FileDirectory directory = there ? read_torch_zip(**open, item.at, item.bytes) : FileDirectory();
        if (!there || !directory.found.empty())
          cannot_read(file->path, there ? directory.found.front().what : "it is cut");
        for (const TensorPlace& tensor : directory.tensors)
          keep(tensor.name == "tensor" ? item.name : cat(item.name, ".", tensor.name), tensor, number);
      }
    }
  }

  /// Once for each file.
  void cannot_read(const std::string& path, std::string_view why) { unread_.emplace(tree_.full(path), why); }

  void keep(std::string name, const TensorPlace& tensor, size_t number) {
    if (places_.size() >= kDiffTensors) {
      clipped_ = true;
      return;
    }
    // Parts of one tensor in files of several ranks have its name.
    if (places_.count(name) != 0) {
      size_t& part = parts_[name];
      do {
        ++part;
      } while (places_.count(cat(name, " part ", part)) != 0);
      name = cat(name, " part ", part);
    }
    if (!tensor.dense && view_.empty()) view_ = name;
    bytes_ += tensor.bytes;
    places_.emplace(std::move(name), Place{tensor.dtype, tensor.shape, number, tensor.at, tensor.bytes});
  }

  Disk& disk_;
  CheckpointTree tree_;
  std::map<std::string, Place> places_;
  std::map<std::string, size_t> parts_;        // of a name that several tensors have, the last number
  std::map<std::string, std::string> unread_;  // why, by path
  bool clipped_ = false;
  uint64_t bytes_ = 0;
  int64_t ranks_ = 0;  // that wrote it, as far as the names of its files say; 0: they do not
  std::string view_;
  std::unique_ptr<ReadFile> open_;
  size_t open_number_ = 0;
};

class Diff {
 public:
  Diff(Tensors& before, Tensors& after, const std::function<void(int64_t, int64_t)>& progress)
      : sides_{&before, &after}, progress_(progress), all_(static_cast<int64_t>(before.bytes() + after.bytes())) {}

  TensorsDiff run() {
    std::map<std::string_view, const Place*> other;
    for (const auto& [name, place] : sides_[1]->places()) other.emplace(name, &place);
    for (const auto& [name, place] : sides_[0]->places()) {
      const auto found = other.find(name);
      compare(name, &place, found == other.end() ? nullptr : found->second);
      if (found != other.end()) other.erase(found);
    }
    for (const auto& [name, place] : other) compare(std::string(name), nullptr, place);
    std::sort(out_.tensors.begin(), out_.tensors.end(),
              [](const TensorDifference& a, const TensorDifference& b) { return a.name < b.name; });
    if (sides_[0]->clipped() || sides_[1]->clipped())
      out_.notes.emplace_back("not all of their tensors could be listed");
    for (const Tensors* side : sides_)
      for (const auto& [path, why] : side->unread()) out_.unread.push_back(cat(path, ": ", why));
    note_what_is_not_alike();
    for (std::string& note : frozen_notes(out_)) out_.notes.push_back(std::move(note));
    return std::move(out_);
  }

 private:
  /// Why tensors of one weight are not compared, or not by themselves.
  void note_what_is_not_alike() {
    const bool apart = std::any_of(out_.tensors.begin(), out_.tensors.end(),
                                   [](const TensorDifference& one) { return !one.compared; });
    const int64_t ranks[2] = {sides_[0]->ranks(), sides_[1]->ranks()};
    if (apart && ranks[0] > 0 && ranks[1] > 0 && ranks[0] != ranks[1])
      out_.notes.push_back(cat("the first was saved by ", ranks[0], ranks[0] == 1 ? " rank" : " ranks",
                               ", the second by ", ranks[1],
                               ": their files hold other parts of the same tensors, and those are not compared"));
    const std::string& view = sides_[0]->view().empty() ? sides_[1]->view() : sides_[0]->view();
    if (!view.empty())
      out_.notes.push_back(cat(clip(sanitize_utf8(view), 200),
                               " is a view whose numbers do not lie one after the other: of it, and its like, all of "
                               "the storage is compared, which may hold more than the view"));
  }

  void compare(const std::string& name, const Place* before, const Place* after) {
    TensorDifference one;
    one.name = name;
    const Place* const places[2] = {before, after};
    for (size_t side = 0; side < 2; ++side) {
      if (places[side] == nullptr) continue;
      one.there[side] = true;
      one.dtype[side] = places[side]->dtype;
      one.shape[side] = places[side]->shape;
    }
    one.compared = before != nullptr && after != nullptr && before->dtype == after->dtype &&
                   before->shape == after->shape && before->bytes == after->bytes;
    if (!walk(one, places)) out_.notes.push_back(cat(name, " could not be read"));
    out_.tensors.push_back(std::move(one));
  }

  bool walk(TensorDifference& one, const Place* const (&places)[2]) {
    const uint64_t longest =
        std::max(places[0] == nullptr ? 0 : places[0]->bytes, places[1] == nullptr ? 0 : places[1]->bytes);
    for (uint64_t from = 0; from < longest; from += kPiece) {
      for (size_t side = 0; side < 2; ++side) {
        piece_[side].clear();
        if (places[side] == nullptr || from >= places[side]->bytes) continue;
        const uint64_t size = std::min(kPiece, places[side]->bytes - from);
        if (!sides_[side]->read(*places[side], from, size, piece_[side])) return one.compared = false;
        one.figures[side].add(scan_numbers(one.dtype[side], piece_[side]));
        done_ += static_cast<int64_t>(size);
      }
      if (one.compared) one.change.add(compare_numbers(one.dtype[0], piece_[0], piece_[1]));
      if (progress_) progress_(done_, all_);
    }
    return true;
  }

  Tensors* sides_[2];
  const std::function<void(int64_t, int64_t)>& progress_;
  int64_t done_ = 0, all_ = 0;
  std::string piece_[2];
  TensorsDiff out_;
};

/// Has the second any tensor of the first, by name?
bool share_names(const Tensors& one, const Tensors& two) {
  return std::any_of(one.places().begin(), one.places().end(),
                     [&two](const auto& place) { return two.places().count(place.first) != 0; });
}

/// The one folder in `tree` that has all files of weights of `other` below it, as a store keeps a checkpoint; "": there
/// is none, or more than one.
std::string folder_like(const CheckpointTree& tree, const CheckpointTree& other) {
  const auto is_weights = [](const TreeFile& file) { return file.role == FileRole::kWeights; };
  const auto first = std::find_if(other.files().begin(), other.files().end(), is_weights);
  if (first == other.files().end()) return "";
  std::string found;
  for (const TreeFile& file : tree.files()) {
    if (!file.path.ends_with(cat("/", first->path))) continue;
    if (!found.empty()) return "";
    found = file.path.substr(0, file.path.size() - first->path.size() - 1);
  }
  const auto is_there = [&](const TreeFile& file) { return !is_weights(file) || tree.has(cat(found, "/", file.path)); };
  return std::all_of(other.files().begin(), other.files().end(), is_there) ? found : "";
}

Error nothing_to_compare(Disk& disk, const std::string& path) {
  const auto inside = find_checkpoints(disk, path);
  if (inside.ok() && !inside->empty() && inside->front().path != path)
    return {Error::Code::kInvalid,
            cat(path, " holds ", inside->size(), inside->size() == 1 ? " checkpoint" : " checkpoints",
                " and is none itself"),
            cat("Name one of them: ", inside->back().path)};
  return {Error::Code::kUnsupported, cat("no tensor that can be read is in ", path),
          "midwatch checkpoint verify says what it is, and whether anything is wrong with it."};
}

}  // namespace

Result<TensorsDiff> diff_tensors(Disk& disk, const std::string& before, const std::string& after,
                                 const std::function<void(int64_t, int64_t)>& progress) {
  auto first = CheckpointTree::read(disk, before);
  if (!first.ok()) return first.error();
  auto second = CheckpointTree::read(disk, after);
  if (!second.ok()) return second.error();
  const std::string in_first = folder_like(*first, *second), in_second = folder_like(*second, *first);
  Tensors one(disk, std::move(*first)), two(disk, std::move(*second));
  const bool apart = !one.places().empty() && !two.places().empty() && !share_names(one, two);
  if (apart && !in_second.empty()) return diff_tensors(disk, before, cat(after, "/", in_second), progress);
  if (apart && !in_first.empty()) return diff_tensors(disk, cat(before, "/", in_first), after, progress);
  if (one.places().empty()) return nothing_to_compare(disk, before);
  if (two.places().empty()) return nothing_to_compare(disk, after);
  return Diff(one, two, progress).run();
}

}  // namespace mw
