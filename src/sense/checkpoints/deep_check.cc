#include "sense/checkpoints/deep_check.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <thread>

#include "base/checksum.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr uint64_t kPiece = 256 << 10;  // read at once: stays in the second cache while it is looked at three times
constexpr size_t kShown = 20;           // tensors of one file that are named

/// Masks hold infinities by design.
bool may_be_infinite(std::string_view name) { return contains(name, "mask") || contains(name, "alibi"); }

/// What one file shows.
struct OneFile {
  std::vector<CheckpointProblem> problems;
  DeepFigures figures;
  std::optional<ManifestFile> hashed;

  void problem(Trouble trouble, const std::string& path, std::string what, bool breaks, CheckDepth depth) {
    problems.push_back({trouble, depth, path, std::move(what), breaks});
  }
};

/// How far all threads are together.
class Meter {
 public:
  Meter(const CheckProgress& progress, int64_t all) : progress_(progress), all_(all) {}
  /// False: somebody said stop.
  bool add(uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    so_far_ += static_cast<int64_t>(bytes);
    if (!stopped_ && progress_ && !progress_(so_far_, all_)) stopped_ = true;
    return !stopped_;
  }
  bool stopped() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stopped_;
  }

 private:
  std::mutex mutex_;
  const CheckProgress& progress_;
  const int64_t all_;
  int64_t so_far_ = 0;
  bool stopped_ = false;
};

/// One file: all of its bytes in order, each range by its kind.
class Pass {
 public:
  Pass(const TreeFile& file, Meter& meter, OneFile& out) : file_(file), meter_(meter), out_(out) {}

  void run(ReadFile& open, const std::vector<ByteRange>& ranges) {
    const auto bytes = static_cast<uint64_t>(file_.bytes);
    uint64_t at = 0;
    for (const ByteRange& range : ranges) {
      if (range.at < at || range.at > bytes || range.bytes > bytes - range.at) continue;  // its directory was refused
      if (!walk(open, {at, range.at - at, Dtype::kOther, 0, false, ""}) || !walk(open, range)) return;
      at = range.at + range.bytes;
    }
    if (!walk(open, {at, bytes - std::min(at, bytes), Dtype::kOther, 0, false, ""})) return;
    if (!failed_) out_.hashed = {file_.path, file_.bytes, file_.changed, hash_.digest()};
  }

 private:
  /// False: somebody said stop.
  bool walk(ReadFile& open, const ByteRange& range) {
    TensorFigures figures;
    uint32_t crc = 0;
    for (uint64_t from = 0; from < range.bytes && !failed_; from += kPiece) {
      const uint64_t size = std::min(kPiece, range.bytes - from);
      if (!open.read_at(range.at + from, size, piece_).ok() || piece_.size() < size) {
        failed_ = true;
        out_.problem(Trouble::kUnreadable, file_.path, cat("it cannot be read at ", range.at + from), true,
                     CheckDepth::kContent);
        break;
      }
      hash_.update(piece_);
      if (range.has_crc) crc = crc32_ieee(piece_, crc);
      if (has_point(range.dtype)) figures.add(scan_numbers(range.dtype, piece_));
      out_.figures.bytes += size;
      if (!meter_.add(size)) return false;
    }
    if (failed_) return true;
    if (range.has_crc && crc != range.crc) {
      out_.problem(Trouble::kDamaged, file_.path,
                   cat("the bytes of ", shown(range.name), " do not have their checksum"), true, CheckDepth::kContent);
    }
    if (has_point(range.dtype) && range.bytes > 0) judge(range, figures);
    return true;
  }

  void judge(const ByteRange& range, const TensorFigures& figures) {
    ++out_.figures.tensors;
    out_.figures.zero += figures.zero ? 1 : 0;
    out_.figures.all.add(figures);
    if (figures.not_finite == 0) return;
    if (++shown_ > kShown) return;
    out_.problem(Trouble::kNotFinite, file_.path,
                 cat(figures.not_finite, " of the ", figures.numbers, " numbers of ", shown(range.name), " are ",
                     figures.nan == 0                    ? "infinite"
                     : figures.nan == figures.not_finite ? "NaN"
                                                         : "NaN or infinite"),
                 !may_be_infinite(range.name), CheckDepth::kSane);
  }

  static std::string shown(std::string_view name) { return clip(sanitize_utf8(name), 200); }

  const TreeFile& file_;
  Meter& meter_;
  OneFile& out_;
  Xxh3 hash_;
  std::string piece_;
  size_t shown_ = 0;
  bool failed_ = false;
};

std::vector<ByteRange> ranges_of(const Examination& exam, const TreeFile& file, ReadFile& open, OneFile& out) {
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
      out.problem(found.trouble, file.path, cat(item.name, ": ", found.what), true, CheckDepth::kContent);
    for (ByteRange& range : directory.ranges) {
      if (range.dtype != Dtype::kOther) range.name = item.name;
      all.push_back(std::move(range));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const ByteRange& a, const ByteRange& b) { return a.at < b.at; });
  return all;
}

OneFile look(const Examination& exam, Disk& disk, const TreeFile& file, Meter& meter) {
  OneFile out;
  auto open = disk.open_read(exam.tree().full(file.path));
  if (!open.ok()) {
    out.problem(Trouble::kUnreadable, file.path, "it cannot be opened", true, CheckDepth::kContent);
    return out;
  }
  const std::vector<ByteRange> ranges = ranges_of(exam, file, **open, out);
  Pass(file, meter, out).run(**open, ranges);
  return out;
}

}  // namespace

DeepAnswer check_deeply(Examination& exam, int threads, const CheckProgress& progress) {
  const std::vector<TreeFile>& files = exam.tree().files();
  Meter meter(progress, exam.tree().bytes());
  std::vector<OneFile> found(files.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < files.size() && !meter.stopped(); i = next++)
      found[i] = look(exam, exam.disk(), files[i], meter);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads && static_cast<size_t>(i) < files.size(); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  DeepAnswer answer;
  answer.stopped = meter.stopped();
  for (OneFile& one : found) {  // in the files' order, however the threads shared them
    for (CheckpointProblem& problem : one.problems)
      exam.problem(problem.trouble, std::move(problem.path), std::move(problem.what), problem.breaks, problem.depth);
    answer.figures.bytes += one.figures.bytes;
    answer.figures.tensors += one.figures.tensors;
    answer.figures.zero += one.figures.zero;
    answer.figures.all.add(one.figures.all);
    if (one.hashed) answer.files.push_back(std::move(*one.hashed));
  }
  return answer;
}

}  // namespace mw
