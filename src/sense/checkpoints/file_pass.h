// One file of a checkpoint, read to its last byte by as many threads as have time: checksums, and what its numbers
// show.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/text.h"
#include "platform/file_view.h"
#include "sense/checkpoints/deep_check.h"
#include "sense/checkpoints/lost_pages.h"

namespace mw {

/// What one file shows.
struct OneFile {
  std::vector<CheckpointProblem> problems;
  DeepFigures figures;
  std::optional<ManifestFile> hashed;

  void problem(Trouble trouble, const std::string& path, std::string what, bool breaks, CheckDepth depth) {
    problems.push_back({trouble, depth, path, std::move(what), breaks});
  }
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

  void open(std::unique_ptr<ReadFile> opened, std::vector<ByteRange> ranges);

  size_t chunks() const { return chunks_.size(); }

  // ---- of these one thread at a time is in
  /// The leader comes to a chunk. True: it is for the leader to read.
  bool reach(size_t index);
  bool ready(size_t index) const { return chunks_[index].ready; }
  /// A chunk to read for the leader, not far ahead.
  Chunk* ahead();
  void helped(Chunk& chunk);
  bool alone() const { return helpers_ == 0; }

  // ---- the leader
  /// Bytes that were read; fewer than the chunk has when it cannot be read.
  uint64_t lead(size_t index, Way way, std::string& buffer);
  bool failed() const { return failed_at_ != kReadable; }

  /// After the last chunk that can be read, when nobody else looks at one.
  void finish(std::string& buffer);

  // ---- others
  void help(Chunk& chunk, std::string& buffer) { go_through(chunk, kKeep, buffer); }

 private:
  static constexpr uint64_t kReadable = UINT64_MAX;

  /// Memory that was written to before: new pages cost as much as the bytes in them.
  void give_back(Chunk& chunk);

  uint64_t end_of(size_t range) const { return ranges_[range].at + ranges_[range].bytes; }

  /// The end of a stretch from `at` on, of `bytes` at most and not beyond `end`, that cuts no number. `range`: the
  /// first that does not lie before `at`.
  uint64_t cut(uint64_t at, uint64_t bytes, uint64_t end, size_t range) const;

  uint64_t size_of_chunk(size_t index) const {
    return (index + 1 < chunks_.size() ? chunks_[index + 1].at : size_) - chunks_[index].at;
  }

  /// Piece by piece, so that each stays in the cache while it is looked at. Bytes that were read.
  uint64_t go_through(Chunk& chunk, Way way, std::string& buffer);

  /// Where a piece is kept for the leader. Nullptr: it is not.
  static std::string* kept_piece(Chunk& chunk, size_t number, bool make);

  /// A part of a range, `from` on. `chunk`: where to put what its numbers show.
  void take(size_t number, bool last, uint64_t from, std::string_view bytes, Chunk* chunk, bool sum);

  void judge(const ByteRange& range, bool bad);

  /// What is the trainer's and not the model's counts neither as a tensor nor for the norm. Where only its place in the
  /// file says that, a number that is not finite is worth knowing.
  void judge_figure(const ByteRange& range);

  /// Checksums say more. Where numbers lie across pages, pieces of the file cut them.
  static bool may_have_lost(const ByteRange& range) { return !range.has_crc && range.at % size_of(range.dtype) == 0; }

  void report_lost();

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

}  // namespace mw
