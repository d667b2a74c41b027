#include "sense/checkpoints/file_pass.h"

#include <algorithm>
#include <utility>

#include "base/checksum.h"
#include "sense/checkpoints/frozen.h"
#include "sense/checkpoints/trainer_figures.h"

namespace mw {
namespace {

constexpr uint64_t kPiece = 256 << 10;  // read at once: stays in the second cache while it is looked at three times
constexpr uint64_t kChunk = 1 << 20;    // that one thread reads
constexpr uint64_t kView = 4 << 20;     // likewise of a file that can be mapped: that costs, too
constexpr size_t kAhead = 16;           // chunks that others may be before the leader
constexpr size_t kViewsAhead = 4;       // likewise: as many bytes
constexpr size_t kShown = 20;           // tensors of one file that are named

}  // namespace

void FilePass::open(std::unique_ptr<ReadFile> opened, std::vector<ByteRange> ranges) {
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

bool FilePass::reach(size_t index) {
  lead_ = index;
  if (index > 0 && chunks_[index - 1].ready) give_back(chunks_[index - 1]);
  return !std::exchange(chunks_[index].claimed, true);
}

Chunk* FilePass::ahead() {
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

void FilePass::helped(Chunk& chunk) {
  --helpers_;
  chunk.ready = chunk.scanned;
  if (static_cast<size_t>(&chunk - chunks_.data()) < lead_) give_back(chunk);
}

uint64_t FilePass::lead(size_t index, Way way, std::string& buffer) {
  const uint64_t done = go_through(chunks_[index], way, buffer);
  failed_at_ = done < size_of_chunk(index) ? chunks_[index].at + done : kReadable;
  out_.figures.bytes += done;
  return done;
}

void FilePass::finish(std::string& buffer) {
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

void FilePass::give_back(Chunk& chunk) {
  for (std::string& piece : chunk.kept) spare_.push_back(std::move(piece));
  chunk.kept = {};
  chunk.view = nullptr;
}

uint64_t FilePass::cut(uint64_t at, uint64_t bytes, uint64_t end, size_t range) const {
  const uint64_t to = at + std::min(bytes, end - at);
  while (range < ranges_.size() && end_of(range) <= to) ++range;
  if (to == end || range == ranges_.size() || ranges_[range].at >= to || !has_point(ranges_[range].dtype)) return to;
  return to - (to - ranges_[range].at) % size_of(ranges_[range].dtype);
}

uint64_t FilePass::go_through(Chunk& chunk, Way way, std::string& buffer) {
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

std::string* FilePass::kept_piece(Chunk& chunk, size_t number, bool make) {
  if (make && number == chunk.kept.size()) chunk.kept.emplace_back();
  return number < chunk.kept.size() ? &chunk.kept[number] : nullptr;
}

void FilePass::take(size_t number, bool last, uint64_t from, std::string_view bytes, Chunk* chunk, bool sum) {
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

void FilePass::judge(const ByteRange& range, bool bad) {
  if (bad) {
    out_.problem(Trouble::kDamaged, file_.path, cat("the bytes of ", shown(range.name), " do not have their checksum"),
                 true, CheckDepth::kContent);
  }
  const bool model = file_.role != FileRole::kOptimizer && file_.role != FileRole::kSettings;
  if (!has_point(range.dtype) && model) out_.figures.other_bytes += range.bytes;
  if (!has_point(range.dtype) || range.bytes == 0) return;
  if (range.figure) return judge_figure(range);
  const int64_t zero_bytes = may_have_lost(range) ? static_cast<int64_t>(zeros_.pages * kPageBytes) : -1;
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
    tensors_.push_back({shown(range.name), figures_.numbers, figures_.norm(), figures_.zero,
                        range.has_crc && !bad ? range.crc : 0, zero_bytes});
  if (figures_.not_finite == 0) return;
  if (++shown_ > kShown) return;
  // Settings and states (a scheduler's best loss) are no weights.
  const bool breaks = file_.role != FileRole::kSettings && !may_be_infinite(range.name, figures_);
  out_.problem(Trouble::kNotFinite, file_.path, not_finite_in(shown(range.name), figures_), breaks, CheckDepth::kSane);
}

void FilePass::judge_figure(const ByteRange& range) {
  if (figures_.not_finite == 0 || is_trainer_figure(range.name, 1) || ++shown_ > kShown) return;
  out_.problem(Trouble::kNotFinite, file_.path,
               cat(not_finite_in(shown(range.name), figures_), ", which seems to be the trainer's and no weight"),
               false, CheckDepth::kSane);
}

void FilePass::report_lost() {
  const std::vector<LostPages::Lost> lost = checked(*opened_, lost_.finish(size_));
  if (!lost.empty()) out_.problem(Trouble::kZeros, file_.path, sentence_of(lost), true, CheckDepth::kSane);
}

}  // namespace mw
