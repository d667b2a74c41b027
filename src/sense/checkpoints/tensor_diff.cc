#include "sense/checkpoints/tensor_diff.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/text.h"
#include "sense/checkpoints/examination.h"
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
    const std::string_view ending = ending_of(file.name());
    if (is_export(file.path) && tree_.folders().size() > 1) return;
    if (file.name() == ".metadata") return take_distributed(file);
    if (ending != "safetensors" && ending != "pt" && ending != "pth" && ending != "bin") return;
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
    for (std::string& note : frozen_notes(out_)) out_.notes.push_back(std::move(note));
    return std::move(out_);
  }

 private:
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

}  // namespace

Result<TensorsDiff> diff_tensors(Disk& disk, const std::string& before, const std::string& after,
                                 const std::function<void(int64_t, int64_t)>& progress) {
  auto first = CheckpointTree::read(disk, before);
  if (!first.ok()) return first.error();
  auto second = CheckpointTree::read(disk, after);
  if (!second.ok()) return second.error();
  Tensors one(disk, std::move(*first)), two(disk, std::move(*second));
  for (const auto& [tensors, path] : {std::pair<const Tensors*, const std::string&>{&one, before}, {&two, after}}) {
    if (tensors->places().empty())
      return Error{Error::Code::kUnsupported, cat("no tensor that can be read is in ", path),
                   "midwatch checkpoint verify says what is wrong with it."};
  }
  return Diff(one, two, progress).run();
}

}  // namespace mw
