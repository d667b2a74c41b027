#include "sense/checkpoints/examination.h"

#include <algorithm>
#include <array>

#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/lost_pages.h"
#include "sense/checkpoints/zero_tail.h"

namespace mw {
namespace {

/// Whole numbers of pickles that say of how many ranks a file is.
constexpr std::array<std::string_view, 7> kRanks = {
    "rank", "dp_world_size", "mp_world_size", "zero_stage", "stage", "tensor_model_parallel_size", "partition_count"};
constexpr size_t kTensorsKept = 400'000;  // of all files together

}  // namespace

std::string_view word_of(CheckDepth depth) {
  constexpr std::string_view kWords[] = {"structural", "content", "sane"};
  return kWords[static_cast<size_t>(depth)];
}

std::string_view word_of(Piece piece) {
  constexpr std::string_view kWords[kPieces] = {"step", "optimizer", "scheduler", "dataloader",
                                                "rng",  "critic",    "pointer"};
  return kWords[static_cast<size_t>(piece)];
}

std::string system_words(const Error& error) {
  const size_t colon = error.what.rfind(": ");
  return colon == std::string::npos ? "" : cat(" (", error.what.substr(colon + 2), ")");
}

Examination::Examination(Disk& disk, const CheckpointTree& tree) : disk_(disk), tree_(tree) {
  bool exported = false, other = false;
  for (const TreeFile& file : tree.files()) {
    const bool weights = file.role == FileRole::kWeights && ending_of(file.name()) != "distcp";
    const bool in_export = weights && is_export(file.path);
    exported = exported || in_export;
    const bool part = weights || file.role == FileRole::kOptimizer || file.name() == ".metadata" ||
                      ending_of(file.name()) == "distcp";
    other = other || (part && !in_export);
  }
  only_exported_ = exported && !other && tree.seen_whole();
}

std::optional<std::string> Examination::text(const TreeFile& file, size_t limit) {
  if (file.bytes < 0 || static_cast<uint64_t>(file.bytes) > limit) {
    unknown_ = true;
    return std::nullopt;
  }
  auto open = disk_.open_read(tree_.full(file.path));
  std::string out;
  if (open.ok() && (*open)->read_at(0, static_cast<size_t>(file.bytes), out).ok()) return out;
  unknown_ = true;
  problem(Trouble::kUnreadable, file.path, "it cannot be read", false);
  return std::nullopt;
}

const FileDirectory& Examination::directory(const TreeFile& file) {
  std::unique_ptr<FileDirectory>& kept = directories_[file.path];
  if (kept != nullptr) return *kept;
  kept = std::make_unique<FileDirectory>(read(tree_.full(file.path), file.bytes, file.path));
  thin(*kept, file.role == FileRole::kWeights);
  return *kept;
}

void Examination::look_outside(const std::string& path, const std::string& shown) {
  const auto info = disk_.info(path);
  if (!info.ok() || info->kind != FileInfo::Kind::kFile)
    return problem(Trouble::kMissing, shown, "it is missing: what has its name is no file");
  newest_outside_ = std::max(newest_outside_, info->changed);
  outside_[shown] = info->changed;
  (void)read(path, info->size, shown);
}

FileDirectory Examination::read(const std::string& full, int64_t bytes, const std::string& shown) {
  auto open = disk_.open_read(full);
  if (!open.ok()) {
    unknown_ = true;
    problem(Trouble::kUnreadable, shown, cat("it cannot be opened", system_words(open.error())), false);
    return {};
  }
  FileDirectory out = read_directory(**open, basename(full), static_cast<uint64_t>(bytes));
  for (const FileDirectory::Found& found : out.found) {
    problem(found.trouble, shown, found.what, found.trouble != Trouble::kUnreadable);
    if (found.trouble == Trouble::kUnreadable) unknown_ = true;
  }
  out.content = content_of(out);
  if (out.clipped) unknown_ = true;
  if (const auto lost = lost_in_holes(**open, static_cast<uint64_t>(bytes), out.ranges); !lost.empty())
    problem(Trouble::kZeros, shown, sentence_of(lost));
  if (role_of(basename(shown)) != FileRole::kWeights) return out;
  if (const auto tail = zero_tail(**open, static_cast<uint64_t>(bytes), out.ranges); tail)
    problem(Trouble::kZeros, shown, sentence_of(*tail), true, CheckDepth::kSane);
  return out;
}

void Examination::thin(FileDirectory& directory, bool weights) {
  directory.ranges = {};
  for (auto number = directory.numbers.begin(); number != directory.numbers.end();) {
    const size_t dot = number->first.rfind('.');
    const std::string_view last = std::string_view(number->first).substr(dot == std::string::npos ? 0 : dot + 1);
    const bool known = is_trainer_counter(number->first) || is_one_of(last, kRanks);
    number = known ? std::next(number) : directory.numbers.erase(number);
  }
  tensors_ += directory.tensors.size();
  const bool wanted = weights || directory.format == FileDirectory::Format::kSafetensors;
  if (!wanted || tensors_ > kTensorsKept) directory.tensors = {};
  if (tensors_ > kTensorsKept) directory.keys = {};
}

void Examination::problem(Trouble trouble, std::string path, std::string what, bool breaks, CheckDepth depth) {
  // That a file is missing is said once, whoever calls for it; so is that it cannot be read, by who needs it, and that
  // bytes of it were lost, at whatever depth.
  const bool missing = trouble == Trouble::kMissing && what.starts_with("it is missing");
  if ((missing || trouble == Trouble::kUnreadable || trouble == Trouble::kZeros) && !path.empty() &&
      !said_.emplace(trouble, path).second) {
    for (CheckpointProblem& one : problems_) {
      if (one.trouble != trouble || one.path != path || one.breaks || !breaks) continue;
      one = {trouble, depth, std::move(path), std::move(what), true};
      return;
    }
    return;
  }
  ++all_problems_;
  if (problems_.size() < kProblems || (breaks && !broken()))
    problems_.push_back({trouble, depth, std::move(path), std::move(what), breaks});
}

bool Examination::broken() const {
  return std::any_of(problems_.begin(), problems_.end(), [](const CheckpointProblem& one) { return one.breaks; });
}

bool Examination::has_anywhere(std::string_view name) {
  const auto known = anywhere_.find(name);
  if (known != anywhere_.end()) return known->second;
  const auto& files = tree_.files();
  const bool there =
      std::any_of(files.begin(), files.end(), [name](const TreeFile& file) { return file.name() == name; });
  anywhere_.emplace(name, there);
  return there;
}

void Examination::step_is(int64_t step, const std::string& by) {
  if (step_ != kNoStep && step_ != step) {
    problem(Trouble::kMixed, by,
            cat("it is of step ", step, ", and ", step_by_.empty() ? "its folder" : step_by_, " says step ", step_));
    return;
  }
  if (step_ == kNoStep) step_by_ = by;
  step_ = step;
}

}  // namespace mw
