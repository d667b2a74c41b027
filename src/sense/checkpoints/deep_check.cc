#include "sense/checkpoints/deep_check.h"

#include <algorithm>
#include <cmath>

#include "base/checksum.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr uint64_t kPiece = 256 << 10;  // read at once: stays in the second cache while it is looked at three times
constexpr size_t kShown = 20;           // tensors of one file that are named

/// Masks hold infinities by design.
bool may_be_infinite(std::string_view name) { return contains(name, "mask") || contains(name, "alibi"); }

/// One file: all of its bytes in order, each range by its kind.
class Pass {
 public:
  Pass(Examination& exam, const TreeFile& file, DeepAnswer& answer) : exam_(exam), file_(file), answer_(answer) {}

  /// False: somebody said stop.
  bool run(ReadFile& open, const std::vector<ByteRange>& ranges, const std::function<bool(uint64_t)>& done) {
    const auto bytes = static_cast<uint64_t>(file_.bytes);
    uint64_t at = 0;
    for (const ByteRange& range : ranges) {
      if (range.at < at || range.at > bytes || range.bytes > bytes - range.at) continue;  // its directory was refused
      if (!walk(open, {at, range.at - at, Dtype::kOther, 0, false, ""}, done) || !walk(open, range, done)) return false;
      at = range.at + range.bytes;
    }
    if (!walk(open, {at, bytes - std::min(at, bytes), Dtype::kOther, 0, false, ""}, done)) return false;
    if (!failed_) answer_.files.push_back({file_.path, file_.bytes, file_.changed, hash_.digest()});
    return true;
  }

 private:
  bool walk(ReadFile& open, const ByteRange& range, const std::function<bool(uint64_t)>& done) {
    TensorFigures figures;
    uint32_t crc = 0;
    for (uint64_t from = 0; from < range.bytes && !failed_; from += kPiece) {
      const uint64_t size = std::min(kPiece, range.bytes - from);
      if (!open.read_at(range.at + from, size, piece_).ok() || piece_.size() < size) {
        failed_ = true;
        exam_.problem(Trouble::kUnreadable, file_.path, cat("it cannot be read at ", range.at + from), true,
                      CheckDepth::kContent);
        break;
      }
      hash_.update(piece_);
      if (range.has_crc) crc = crc32_ieee(piece_, crc);
      if (has_point(range.dtype)) figures.add(scan_numbers(range.dtype, piece_));
      answer_.figures.bytes += size;
      if (!done(size)) return false;
    }
    if (failed_) return true;
    if (range.has_crc && crc != range.crc) {
      exam_.problem(Trouble::kDamaged, file_.path,
                    cat("the bytes of ", shown(range.name), " do not have their checksum"), true, CheckDepth::kContent);
    }
    if (has_point(range.dtype) && range.bytes > 0) judge(range, figures);
    return true;
  }

  void judge(const ByteRange& range, const TensorFigures& figures) {
    ++answer_.figures.tensors;
    answer_.figures.zero += figures.zero ? 1 : 0;
    answer_.figures.all.add(figures);
    if (figures.not_finite == 0) return;
    if (++shown_ > kShown) return;
    exam_.problem(Trouble::kNotFinite, file_.path,
                  cat(figures.not_finite, " of the ", figures.numbers, " numbers of ", shown(range.name), " are ",
                      figures.nan == 0                    ? "infinite"
                      : figures.nan == figures.not_finite ? "NaN"
                                                          : "NaN or infinite"),
                  !may_be_infinite(range.name), CheckDepth::kSane);
  }

  static std::string shown(std::string_view name) { return clip(sanitize_utf8(name), 200); }

  Examination& exam_;
  const TreeFile& file_;
  DeepAnswer& answer_;
  Xxh3 hash_;
  std::string piece_;
  size_t shown_ = 0;
  bool failed_ = false;
};

std::vector<ByteRange> ranges_of(Examination& exam, const TreeFile& file, ReadFile& open) {
  const auto numbers = exam.numbers_in().find(folder_in_tree(file.path));
  if (numbers != exam.numbers_in().end() && !file.name().starts_with('.'))
    return {{0, static_cast<uint64_t>(file.bytes), numbers->second, 0, false, file.path}};
  const auto items = exam.items().find(file.path);
  if (items == exam.items().end()) return read_directory(open, file.name(), static_cast<uint64_t>(file.bytes)).ranges;
  std::vector<ByteRange> all;
  for (const DistributedItem& item : items->second) {
    std::string head;
    if (!open.read_at(item.at, 4, head).ok() || head != "PK\x03\x04") continue;
    FileDirectory directory = read_torch_zip(open, item.at, item.bytes);
    for (const FileDirectory::Found& found : directory.found)
      exam.problem(found.trouble, file.path, cat(item.name, ": ", found.what), true, CheckDepth::kContent);
    for (ByteRange& range : directory.ranges) {
      if (range.dtype != Dtype::kOther) range.name = item.name;
      all.push_back(std::move(range));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const ByteRange& a, const ByteRange& b) { return a.at < b.at; });
  return all;
}

}  // namespace

DeepAnswer check_deeply(Examination& exam, const CheckProgress& progress) {
  DeepAnswer answer;
  int64_t so_far = 0;
  const auto done = [&](uint64_t bytes) {
    so_far += static_cast<int64_t>(bytes);
    return !progress || progress(so_far, exam.tree().bytes());
  };
  for (const TreeFile& file : exam.tree().files()) {
    auto open = exam.disk().open_read(exam.tree().full(file.path));
    if (!open.ok()) {
      exam.problem(Trouble::kUnreadable, file.path, "it cannot be opened", true, CheckDepth::kContent);
      continue;
    }
    Pass pass(exam, file, answer);
    if (!pass.run(**open, ranges_of(exam, file, **open), done)) {
      answer.stopped = true;
      break;
    }
  }
  return answer;
}

}  // namespace mw
