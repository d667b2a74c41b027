#include "sense/checkpoints/deep_check.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/checksum.h"
#include "base/digest.h"
#include "base/text.h"
#include "platform/file_view.h"
#include "sense/checkpoints/frozen.h"
#include "sense/checkpoints/lost_pages.h"
#include "sense/checkpoints/trainer_figures.h"

namespace mw {
namespace {

constexpr uint64_t kPiece = 256 << 10;  // read at once: stays in the second cache while it is looked at three times
constexpr uint64_t kChunk = 1 << 20;    // that one thread reads
constexpr uint64_t kView = 4 << 20;     // likewise of a file that can be mapped: that costs, too
constexpr size_t kAhead = 16;           // chunks that others may be before the leader
constexpr size_t kViewsAhead = 4;       // likewise: as many bytes
constexpr size_t kShown = 20;           // tensors of one file that are named

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

/// What of a range lies in one chunk.
struct Portion {
  size_t range = 0;
  bool last = false;  ///< the range ends there
  TensorFigures figures;
  ZeroPages zeros;
};

/// A stretch of a file that one thread reads, and whose numbers it looks at.
struct Chunk {
  uint64_t at = 0;
  size_t range = 0;  ///< the first one that does not lie before it
  bool claimed = false;
  bool ready = false;    ///< another thread than the leader read all of it: `kept`
  bool scanned = false;  ///< `found` is right; else whoever looked could not read it
  std::vector<Portion> found;
  std::vector<std::string> kept;   ///< its pieces, for the leader
  std::unique_ptr<FileView> view;  ///< likewise, of a file that is mapped
};

/// One file. One thread leads: it adds all of it to the checksums, in order. A chunk is read, and its numbers are
/// looked at, by the leader or by another thread. To copy a byte from the kernel costs more than all that is done with
/// it: so what the system holds in memory is mapped, where it can be, and else the other thread keeps what it read
/// for the leader. A leader who
/// comes to a chunk that is not there yet reads another one ahead, and where there is none this one again: so nobody
/// ever waits for a piece. Figures are added up in the file's order, whoever found them.
class FilePass {
 public:
  /// What is done with a chunk.
  struct Way {
    bool read = true;  ///< else it is in `kept`
    bool kept = false, scan = false, hash = false;
  };
  static constexpr Way kOwn{true, false, true, true}, kAgain{true, false, false, true}, kKept{false, true, false, true},
      kKeep{true, true, true, false}, kLook{true, false, true, false};

  FilePass(const TreeFile& file, OneFile& out) : file_(file), out_(out), size_(static_cast<uint64_t>(file.bytes)) {}

  void open(std::unique_ptr<ReadFile> opened, std::vector<ByteRange> ranges) {
    opened_ = std::move(opened);
    mappable_ = dynamic_cast<MappableFile*>(opened_.get());
    uint64_t end = 0;
    for (ByteRange& range : ranges) {
      if (range.at < end || range.at > size_ || range.bytes > size_ - range.at) continue;  // its directory was refused
      end = range.at + range.bytes;
      ranges_.push_back(std::move(range));
    }
    uint64_t at = 0;
    size_t range = 0;
    do {
      Chunk& chunk = chunks_.emplace_back();
      chunk.at = at;
      chunk.range = range;
      at = cut(at, mappable_ != nullptr ? kView : kChunk, size_, range);
      while (range < ranges_.size() && end_of(range) <= at) ++range;
    } while (at < size_);
  }

  size_t chunks() const { return chunks_.size(); }

  // ---- of these one thread at a time is in
  /// The leader comes to a chunk. True: it is for the leader to read.
  bool reach(size_t index) {
    lead_ = index;
    if (index > 0 && chunks_[index - 1].ready) give_back(chunks_[index - 1]);
    return !std::exchange(chunks_[index].claimed, true);
  }
  bool ready(size_t index) const { return chunks_[index].ready; }
  /// A chunk to read for the leader, not far ahead.
  Chunk* ahead() {
    const size_t end = std::min(chunks_.size(), lead_ + (mappable_ == nullptr ? kAhead : kViewsAhead));
    for (ahead_ = std::max(ahead_, lead_ + 1); ahead_ < end; ++ahead_) {
      Chunk& chunk = chunks_[ahead_];
      if (chunk.claimed) continue;
      chunk.claimed = true;
      for (uint64_t i = 0; i < (mappable_ == nullptr ? kChunk : kView) / kPiece && !spare_.empty(); ++i) {
        chunk.kept.push_back(std::move(spare_.back()));
        spare_.pop_back();
      }
      ++helpers_;
      return &chunk;
    }
    return nullptr;
  }
  void helped(Chunk& chunk) {
    --helpers_;
    chunk.ready = chunk.scanned;
    if (static_cast<size_t>(&chunk - chunks_.data()) < lead_) give_back(chunk);
  }
  bool alone() const { return helpers_ == 0; }

  // ---- the leader
  /// Bytes that were read; fewer than the chunk has when it cannot be read.
  uint64_t lead(size_t index, Way way, std::string& buffer) {
    const uint64_t done = go_through(chunks_[index], way, buffer);
    failed_at_ = done < size_of_chunk(index) ? chunks_[index].at + done : kReadable;
    out_.figures.bytes += done;
    return done;
  }
  bool failed() const { return failed_at_ != kReadable; }

  /// After the last chunk that can be read, when nobody else looks at one.
  void finish(std::string& buffer) {
    for (Chunk& chunk : chunks_) {
      if (chunk.at >= failed_at_) break;
      if (!chunk.scanned) go_through(chunk, kLook, buffer);
      for (const Portion& portion : chunk.found) {
        figures_.add(portion.figures);
        zeros_.join(portion.zeros);
        if (!portion.last) continue;
        judge(ranges_[portion.range], bad_.count(portion.range) != 0);
        figures_ = {};
        zeros_ = {};
      }
    }
    if (failed()) {
      return out_.problem(Trouble::kUnreadable, file_.path, cat("it cannot be read at ", failed_at_), true,
                          CheckDepth::kContent);
    }
    report_lost();
    out_.hashed = {file_.path,
                   file_.bytes,
                   file_.changed,
                   hash_.short_digest(),
                   hash_.hex(),
                   out_.figures.all.numbers,
                   out_.figures.all.norm(),
                   std::move(tensors_)};
  }

  // ---- others
  void help(Chunk& chunk, std::string& buffer) { go_through(chunk, kKeep, buffer); }

 private:
  static constexpr uint64_t kReadable = UINT64_MAX;

  /// Memory that was written to before: new pages cost as much as the bytes in them.
  void give_back(Chunk& chunk) {
    for (std::string& piece : chunk.kept) spare_.push_back(std::move(piece));
    chunk.kept = {};
    chunk.view = nullptr;
  }

  uint64_t end_of(size_t range) const { return ranges_[range].at + ranges_[range].bytes; }

  /// The end of a stretch from `at` on, of `bytes` at most and not beyond `end`, that cuts no number. `range`: the
  /// first that does not lie before `at`.
  uint64_t cut(uint64_t at, uint64_t bytes, uint64_t end, size_t range) const {
    const uint64_t to = at + std::min(bytes, end - at);
    while (range < ranges_.size() && end_of(range) <= to) ++range;
    if (to == end || range == ranges_.size() || ranges_[range].at >= to || !has_point(ranges_[range].dtype)) return to;
    return to - (to - ranges_[range].at) % size_of(ranges_[range].dtype);
  }

  uint64_t size_of_chunk(size_t index) const {
    return (index + 1 < chunks_.size() ? chunks_[index + 1].at : size_) - chunks_[index].at;
  }

  /// Piece by piece, so that each stays in the cache while it is looked at. Bytes that were read.
  uint64_t go_through(Chunk& chunk, Way way, std::string& buffer) {
    const uint64_t size = size_of_chunk(static_cast<size_t>(&chunk - chunks_.data())), end = chunk.at + size;
    std::unique_ptr<FileView> view = std::move(chunk.view);
    const bool is_kept = way.kept && !way.read && (view != nullptr || !chunk.kept.empty());
    if (!is_kept && mappable_ != nullptr) view = mappable_->view(chunk.at, size);
    size_t range = chunk.range;
    if (way.scan) chunk.found.clear();
    uint64_t bytes = 0;
    size_t number = 0;  // of the piece
    for (uint64_t at = chunk.at; at < end; at += bytes, ++number) {
      bytes = cut(at, kPiece, end, range) - at;
      std::string_view piece = view == nullptr ? std::string_view() : view->bytes(at - chunk.at, bytes);
      if (piece.empty()) {
        std::string* const kept = view == nullptr && way.kept ? kept_piece(chunk, number, way.read) : nullptr;
        const bool reads = kept == nullptr || way.read;
        std::string& into = kept == nullptr ? buffer : *kept;
        if (reads && !opened_->read_at(at, bytes, into).ok()) return at - chunk.at;
        piece = into;
      }
      if (piece.size() < bytes) return at - chunk.at;
      if (way.hash) hash_.add(piece);
      if (view != nullptr && !view->sound()) return at - chunk.at;
      for (; range < ranges_.size() && ranges_[range].at < at + bytes; ++range) {
        const bool last = end_of(range) <= at + bytes;
        const uint64_t from = std::max(ranges_[range].at, at), to = std::min(end_of(range), at + bytes);
        take(range, last, from, piece.substr(from - at, to - from), way.scan ? &chunk : nullptr, way.hash);
        if (!last) break;
      }
      if (view == nullptr || view->sound()) continue;
      if (way.scan) chunk.found.clear();  // zeros may be among it
      return at - chunk.at;
    }
    if (way.scan) chunk.scanned = true;
    if (way.kept && way.read) chunk.view = std::move(view);
    return size;
  }

  /// Where a piece is kept for the leader. Nullptr: it is not.
  static std::string* kept_piece(Chunk& chunk, size_t number, bool make) {
    if (make && number == chunk.kept.size()) chunk.kept.emplace_back();
    return number < chunk.kept.size() ? &chunk.kept[number] : nullptr;
  }

  /// A part of a range, `from` on. `chunk`: where to put what its numbers show.
  void take(size_t number, bool last, uint64_t from, std::string_view bytes, Chunk* chunk, bool sum) {
    const ByteRange& range = ranges_[number];
    if (sum && range.has_crc) {
      crc_ = crc32_ieee(bytes, crc_);
      if (last && crc_ != range.crc) bad_.insert(number);
      if (last) crc_ = 0;
    }
    if (chunk == nullptr) return;
    if (chunk->found.empty() || chunk->found.back().range != number) chunk->found.push_back({number, false, {}, {}});
    Portion& portion = chunk->found.back();
    portion.last = last;
    if (!has_point(range.dtype)) return;
    portion.figures.add(scan_numbers(range.dtype, bytes));
    if (may_have_lost(range)) portion.zeros.join(zero_pages(from, bytes, size_of(range.dtype)));
  }

  void judge(const ByteRange& range, bool bad) {
    if (bad) {
      out_.problem(Trouble::kDamaged, file_.path,
                   cat("the bytes of ", shown(range.name), " do not have their checksum"), true, CheckDepth::kContent);
    }
    const bool model = file_.role != FileRole::kOptimizer && file_.role != FileRole::kSettings;
    if (!has_point(range.dtype) && model) out_.figures.other_bytes += range.bytes;
    if (!has_point(range.dtype) || range.bytes == 0) return;
    if (range.figure) return judge_figure(range);
    ++out_.figures.tensors;
    out_.figures.zero += figures_.zero ? 1 : 0;
    if (model && part_of(cat(file_.path, ":", range.name), range.dtype) == TensorPart::kWeight) {
      if (may_have_lost(range))
        lost_.add({shown(range.name), range.at, range.bytes, range.row, figures_.zero, std::move(zeros_)});
      ++out_.figures.weights;
      out_.figures.weight_bytes += range.bytes;
      out_.figures.zero_weights += figures_.zero ? 1 : 0;
    }
    out_.figures.all.add(figures_);
    if (tensors_.size() <= kManifestTensors)
      tensors_.push_back(
          {shown(range.name), figures_.numbers, figures_.norm(), figures_.zero, range.has_crc && !bad ? range.crc : 0});
    if (figures_.not_finite == 0) return;
    if (++shown_ > kShown) return;
    // Settings and states (a scheduler's best loss) are no weights.
    const bool breaks = file_.role != FileRole::kSettings && !may_be_infinite(range.name, figures_);
    out_.problem(Trouble::kNotFinite, file_.path, not_finite_in(shown(range.name), figures_), breaks,
                 CheckDepth::kSane);
  }

  /// What is the trainer's and not the model's counts neither as a tensor nor for the norm. Where only its place in the
  /// file says that, a number that is not finite is worth knowing.
  void judge_figure(const ByteRange& range) {
    if (figures_.not_finite == 0 || is_trainer_figure(range.name, 1) || ++shown_ > kShown) return;
    out_.problem(Trouble::kNotFinite, file_.path,
                 cat(not_finite_in(shown(range.name), figures_), ", which seems to be the trainer's and no weight"),
                 false, CheckDepth::kSane);
  }

  /// Checksums say more. Where numbers lie across pages, pieces of the file cut them.
  static bool may_have_lost(const ByteRange& range) { return !range.has_crc && range.at % size_of(range.dtype) == 0; }

  void report_lost() {
    const std::vector<LostPages::Lost> lost = lost_.finish(size_);
    if (!lost.empty()) out_.problem(Trouble::kZeros, file_.path, sentence_of(lost), true, CheckDepth::kSane);
  }

  static std::string shown(std::string_view name) { return clip(sanitize_utf8(name), 200); }

  const TreeFile& file_;
  OneFile& out_;
  const uint64_t size_;
  std::unique_ptr<ReadFile> opened_;
  MappableFile* mappable_ = nullptr;  // the same file; nullptr: it cannot be mapped
  std::vector<ByteRange> ranges_;
  std::vector<Chunk> chunks_;  // in order, at least one
  size_t lead_ = 0, ahead_ = 0, helpers_ = 0;
  std::vector<std::string> spare_;  // pieces that the leader is through with
  // Of the leader:
  ContentHash hash_;
  uint32_t crc_ = 0;
  std::set<size_t> bad_;  // ranges without their checksum
  uint64_t failed_at_ = kReadable;
  TensorFigures figures_;
  ZeroPages zeros_;
  LostPages lost_;
  std::vector<ManifestTensor> tensors_;
  size_t shown_ = 0;
};

std::vector<ByteRange> ranges_of(const Examination& exam, const TreeFile& file, ReadFile& open, OneFile& out) {
  const auto numbers = exam.numbers_in().find(folder_in_tree(file.path));
  if (numbers != exam.numbers_in().end() && !file.name().starts_with('.'))
    return {{0, static_cast<uint64_t>(file.bytes), numbers->second, 0, false, file.path, 0}};
  const auto items = exam.items().find(file.path);
  if (items == exam.items().end()) {
    FileDirectory directory = read_directory(open, file.name(), static_cast<uint64_t>(file.bytes));
    mark_trainer_figures(directory);
    return std::move(directory.ranges);
  }
  std::vector<ByteRange> all;
  for (const DistributedItem& item : items->second) {
    std::string head;
    if (!open.read_at(item.at, 4, head).ok() || head != "PK\x03\x04") continue;
    FileDirectory directory = read_torch_zip(open, item.at, item.bytes);
    for (const FileDirectory::Found& found : directory.found)
      out.problem(found.trouble, file.path, cat(item.name, ": ", found.what), true, CheckDepth::kContent);
    for (ByteRange& range : directory.ranges) {
      if (range.dtype != Dtype::kOther) range.name = item.name;
      range.figure = has_point(range.dtype) && is_trainer_figure(item.name, range.bytes / size_of(range.dtype));
      all.push_back(std::move(range));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const ByteRange& a, const ByteRange& b) { return a.at < b.at; });
  return all;
}

/// Who does what. Each thread leads a file of its own as long as there are some; then it helps those that lead.
class Desk {
 public:
  Desk(const Examination& exam, Disk& disk, std::vector<OneFile>& out, Meter& meter)
      : exam_(exam), disk_(disk), out_(out), meter_(meter) {}

  void work() {
    std::string buffer;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!meter_.stopped()) {
      if (next_ < out_.size()) {
        const size_t index = next_++;
        ++leaders_;
        lock.unlock();
        lead(index, buffer);
        lock.lock();
        --leaders_;
        changed_.notify_all();
      } else if (leaders_ == 0) {
        return;
      } else if (!help(lock, buffer)) {
        changed_.wait(lock);
      }
    }
  }

 private:
  void lead(size_t index, std::string& buffer) {
    const TreeFile& file = exam_.tree().files()[index];
    OneFile& out = out_[index];
    auto opened = disk_.open_read(exam_.tree().full(file.path));
    if (!opened.ok()) {
      return out.problem(Trouble::kUnreadable, file.path, cat("it cannot be opened", system_words(opened.error())),
                         true, CheckDepth::kContent);
    }
    FilePass pass(file, out);
    std::vector<ByteRange> ranges = ranges_of(exam_, file, **opened, out);
    pass.open(std::move(*opened), std::move(ranges));
    for (size_t i = 0; i < pass.chunks() && !pass.failed(); ++i) {
      std::unique_lock<std::mutex> lock(mutex_);
      if (i == 0) led_.push_back(&pass);
      const bool own = pass.reach(i);
      changed_.notify_all();
      while (!own && !pass.ready(i) && !meter_.stopped() && help(pass, lock, buffer)) continue;
      const FilePass::Way way = own ? FilePass::kOwn : pass.ready(i) ? FilePass::kKept : FilePass::kAgain;
      lock.unlock();
      const uint64_t bytes = pass.lead(i, way, buffer);
      if (bytes > 0 && !meter_.add(bytes)) break;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    led_.erase(std::find(led_.begin(), led_.end(), &pass));
    changed_.wait(lock, [&pass] { return pass.alone(); });
    lock.unlock();
    if (!meter_.stopped()) pass.finish(buffer);
  }

  /// False: there is nothing to help with now.
  bool help(std::unique_lock<std::mutex>& lock, std::string& buffer) {
    for (FilePass* const pass : led_) {
      if (help(*pass, lock, buffer)) return true;
    }
    return false;
  }
  bool help(FilePass& pass, std::unique_lock<std::mutex>& lock, std::string& buffer) {
    Chunk* const chunk = pass.ahead();
    if (chunk == nullptr) return false;
    lock.unlock();
    pass.help(*chunk, buffer);
    lock.lock();
    pass.helped(*chunk);
    changed_.notify_all();
    return true;
  }

  const Examination& exam_;
  Disk& disk_;
  std::vector<OneFile>& out_;
  Meter& meter_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<FilePass*> led_;  // being read; each lives on its leader's stack
  size_t next_ = 0, leaders_ = 0;
};

}  // namespace

DeepAnswer check_deeply(Examination& exam, int threads, const CheckProgress& progress) {
  Meter meter(progress, exam.tree().bytes());
  std::vector<OneFile> found(exam.tree().files().size());
  Desk desk(exam, exam.disk(), found, meter);
  std::vector<std::thread> others;
  others.reserve(static_cast<size_t>(std::max(threads, 1)));
  for (int i = 1; i < threads; ++i) others.emplace_back([&desk] { desk.work(); });
  desk.work();
  for (std::thread& other : others) other.join();
  DeepAnswer answer;
  answer.stopped = meter.stopped();
  for (OneFile& one : found) {  // in the files' order, however the threads shared them
    for (CheckpointProblem& problem : one.problems)
      exam.problem(problem.trouble, std::move(problem.path), std::move(problem.what), problem.breaks, problem.depth);
    answer.figures.bytes += one.figures.bytes;
    answer.figures.tensors += one.figures.tensors;
    answer.figures.zero += one.figures.zero;
    answer.figures.weights += one.figures.weights;
    answer.figures.weight_bytes += one.figures.weight_bytes;
    answer.figures.other_bytes += one.figures.other_bytes;
    answer.figures.zero_weights += one.figures.zero_weights;
    answer.figures.all.add(one.figures.all);
    if (one.hashed) answer.files.push_back(std::move(*one.hashed));
  }
  size_t tensors = 0;
  for (const ManifestFile& file : answer.files) tensors += file.tensors.size();
  for (ManifestFile& file : answer.files) {
    if (tensors > kManifestTensors) file.tensors.clear();
  }
  return answer;
}

}  // namespace mw
