#include "sense/checkpoints/nearer_step.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/save_times.h"
#include "sense/checkpoints/tensor_scan.h"

namespace mw {
namespace {

constexpr uint64_t kBlock = 4 << 10, kBlocks = 32;
constexpr double kFurther = 1.15;  // so many times as far: steps of a walk in many dimensions
constexpr size_t kSisters = 2, kWitnesses = 2;
constexpr size_t kFiles = 512;  // of one checkpoint

struct Block {
  uint64_t at = 0, bytes = 0;
  Dtype dtype = Dtype::kOther;
  bool operator==(const Block&) const = default;
};

/// Evenly over the numbers of its tensors.
std::vector<Block> blocks_of(const FileDirectory& directory) {
  std::vector<const ByteRange*> ranges;
  uint64_t all = 0;
  for (const ByteRange& range : directory.ranges) {
    if (!has_point(range.dtype) || range.figure) continue;
    ranges.push_back(&range);
    all += range.bytes;
  }
  std::vector<Block> out;
  uint64_t before = 0, next = 0;
  for (const ByteRange* const range : ranges) {
    for (; next < kBlocks && next * (all / kBlocks) < before + range->bytes; ++next) {
      const uint64_t from = (next * (all / kBlocks) - std::min(before, next * (all / kBlocks))) / 8 * 8;
      const uint64_t bytes = std::min(kBlock, range->bytes - from) / 8 * 8;
      if (bytes > 0) out.push_back({range->at + from, bytes, range->dtype});
    }
    before += range->bytes;
  }
  return out;
}

/// One file in one checkpoint.
struct Sample {
  std::vector<Block> blocks;
  std::vector<std::string> bytes;
};
std::optional<Sample> sample_of(Disk& disk, const std::string& path) {
  const auto info = disk.info(path);
  auto open = info.ok() ? disk.open_read(path) : Result<std::unique_ptr<ReadFile>>(info.error());
  if (!open.ok()) return std::nullopt;
  Sample out;
  out.blocks = blocks_of(read_directory(**open, basename(path), static_cast<uint64_t>(info->size)));
  for (const Block& block : out.blocks) {
    if (!(*open)->read_at(block.at, block.bytes, out.bytes.emplace_back()).ok() ||
        out.bytes.back().size() != block.bytes)
      return std::nullopt;
  }
  return out.blocks.empty() ? std::nullopt : std::optional(std::move(out));
}

/// Square of how far they are from each other; below 0: they are not alike.
double distance(const Sample& a, const Sample& b) {
  if (a.blocks != b.blocks) return -1;
  double out = 0;
  for (size_t i = 0; i < a.blocks.size(); ++i)
    out += compare_numbers(a.blocks[i].dtype, a.bytes[i], b.bytes[i]).squares;
  return out;
}

/// This checkpoint, first, and those beside it.
struct Saves {
  std::vector<std::string> paths;
  std::vector<int64_t> steps;
};

/// How far a file is from itself in each pair of saves.
class Distances {
 public:
  Distances(Disk& disk, const Saves& saves, const std::string& file) : count_(saves.paths.size()) {
    std::vector<std::optional<Sample>> samples;
    for (const std::string& path : saves.paths) samples.push_back(sample_of(disk, cat(path, "/", file)));
    for (const auto& a : samples) {
      for (const auto& b : samples) squares_.push_back(a && b ? distance(*a, *b) : -1);
    }
  }
  double between(size_t a, size_t b) const { return squares_[a * count_ + b]; }
  bool moves() const {
    return std::any_of(squares_.begin(), squares_.end(), [](double one) { return one > 0; });
  }

 private:
  size_t count_;
  std::vector<double> squares_;
};

enum class Order : uint8_t { kNone, kSteps, kTurned };

/// In which order this save and the one `other` lie, seen from all that lie on one side of both.
Order order_of(const Distances& file, const Saves& saves, size_t other) {
  size_t straight = 0, turned = 0, all = 0;
  const int64_t low = std::min(saves.steps[0], saves.steps[other]), high = std::max(saves.steps[0], saves.steps[other]);
  for (size_t from = 1; from < saves.steps.size(); ++from) {
    const int64_t step = saves.steps[from];
    if (from == other || (step >= low && step <= high)) continue;
    const bool own_nearer = (step < low) == (saves.steps[0] == low);
    const double near = file.between(own_nearer ? 0 : other, from), far = file.between(own_nearer ? other : 0, from);
    ++all;
    if (near <= 0 || far <= 0) continue;
    straight += far >= near * kFurther * kFurther ? 1 : 0;
    turned += near >= far * kFurther * kFurther ? 1 : 0;
  }
  if (all < kWitnesses) return Order::kNone;
  return straight == all ? Order::kSteps : turned == all ? Order::kTurned : Order::kNone;
}

}  // namespace

void look_for_exchanged_weights(Examination& exam, const std::vector<std::string>& beside) {
  Saves saves{{exam.tree().root()}, {step_of_name(exam.tree().own_name())}};
  for (const std::string& path : beside) {
    const int64_t step = step_of_name(basename(path));
    if (step == kNoStep || std::count(saves.steps.begin(), saves.steps.end(), step) > 0) continue;
    saves.paths.push_back(path);
    saves.steps.push_back(step);
  }
  if (saves.steps[0] == kNoStep || saves.steps.size() < 2 + kWitnesses) return;
  std::map<std::string, std::vector<std::string>> sets;
  size_t files = 0;
  for (const TreeFile* const part : parts_of(exam.tree())) {
    if (part->role == FileRole::kWeights && ++files <= kFiles) sets[family_of(part->path)].push_back(part->path);
  }
  for (const auto& [family, paths] : sets) {
    if (paths.size() < 1 + kSisters) continue;
    std::vector<Distances> all;
    for (const std::string& path : paths) all.emplace_back(exam.disk(), saves, path);
    for (size_t other = 1; other < saves.steps.size(); ++other) {
      std::vector<size_t> turned;
      size_t straight = 0, moving = 0;
      for (size_t file = 0; file < paths.size(); ++file) {
        if (!all[file].moves()) continue;
        ++moving;
        const Order order = order_of(all[file], saves, other);
        straight += order == Order::kSteps ? 1 : 0;
        if (order == Order::kTurned) turned.push_back(file);
      }
      if (turned.size() != 1 || straight < kSisters || straight + 1 != moving) continue;
      exam.problem(Trouble::kUnlike, paths[turned.front()],
                   cat("its weights lie as if it had changed places with that of ", basename(saves.paths[other]),
                       ": seen from the other checkpoints the two are in the wrong order, and the ", straight,
                       " others of its kind are in the right one"),
                   true, CheckDepth::kContent);
    }
  }
}

}  // namespace mw
