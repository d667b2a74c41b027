#include "journal/journal.h"

#include "base/text.h"
#include "journal/sealer.h"
#include "journal/segment.h"

namespace mw {
namespace {

/// The buffer goes to the system by itself beyond this many bytes.
constexpr size_t kHandOverBytes = 1U << 20;
/// A turn that wrote less than this is quiet: there is time to compress. (Some twenty events; a replay writes
/// thousands.)
constexpr size_t kQuietBytes = 1U << 12;

class FileJournal final : public Journal {
 public:
  FileJournal(Disk& disk, std::string folder, const Options& options)
      : disk_(disk), folder_(std::move(folder)), options_(options), sealer_(disk, folder_) {}

  Result<void> start(Reader* reader) {
    MW_TRY(disk_.make_folders(folder_));
    std::vector<std::string> unfinished;
    const auto segments = segment::list(disk_, folder_, &unfinished);
    if (!segments.ok()) return segments.error();
    const auto outcome = segment::read(disk_, folder_, *segments, reader);
    if (!outcome.ok()) return outcome.error();
    for (const std::string& name : unfinished) MW_TRY(disk_.remove(path(name)));
    for (const segment::Files& files : *segments) {
      if (files.plain && files.sealed) MW_TRY(disk_.remove(path(segment::sealed_name(files.number))));
      if (files.plain && files.number != outcome->last_segment) sealer_.add(files.number);
    }
    number_ = synced_number_ = outcome->last_number;
    if (!outcome->last_is_plain) return create(outcome->last_segment + 1, number_ + 1);
    return go_on(*outcome);
  }

  uint64_t append(std::string_view json) override {
    if (json.size() > kRecordLimit || buffer_.size() > kBufferLimit) return 0;
    MW_CHECK(json.find('\n') == std::string_view::npos);
    segment::put_line(buffer_, ++number_, json);
    if (buffer_.size() - refused_bytes_ >= kHandOverBytes) (void)hand_over().ok();  // flush() will return the error
    return number_;
  }

  Result<void> flush() override {
    const bool quiet = buffer_.size() < kQuietBytes;
    MW_TRY(hand_over());
    if (quiet) sealer_.step();
    return {};
  }

  Result<void> sync() override {
    MW_TRY(hand_over());
    return sync_file();
  }

  uint64_t last_number() const override { return number_; }
  size_t waiting() const override { return buffer_.size(); }

 private:
  std::string path(const std::string& name) const { return cat(folder_, "/", name); }

  Result<void> create(uint64_t segment, uint64_t first) {
    auto file = disk_.open_append(path(segment::plain_name(segment)));
    if (!file.ok()) return file.error();
    file_ = std::move(*file);
    segment_ = segment;
    size_ = synced_size_ = 0;
    std::string header;
    segment::put_header(header, segment, first);
    buffer_.insert(0, header);
    return {};
  }

  Result<void> go_on(const segment::Outcome& outcome) {
    auto file = disk_.open_append(path(segment::plain_name(outcome.last_segment)));
    if (!file.ok()) return file.error();
    file_ = std::move(*file);
    segment_ = outcome.last_segment;
    size_ = outcome.last_whole;
    synced_size_ = 0;  // the one who wrote it may have died before syncing it
    if (outcome.last_size != outcome.last_whole) MW_TRY(file_->truncate(size_));
    if (size_ == 0) segment::put_header(buffer_, segment_, number_ + 1);
    return {};
  }

  Result<void> hand_over() {
    if (doubtful_) MW_TRY(write_again());
    if (buffer_.empty()) return {};
    if (torn_) MW_TRY(file_->truncate(size_));
    torn_ = false;
    Result<void> appended = file_->append(buffer_);
    if (!appended.ok()) {
      torn_ = true;
      refused_bytes_ = buffer_.size();
      return appended;
    }
    size_ += buffer_.size();
    buffer_.clear();
    refused_bytes_ = 0;
    return size_ >= options_.segment_bytes ? roll() : Result<void>();
  }

  Result<void> sync_file() {
    Result<void> synced = file_->sync();
    if (!synced.ok()) {
      doubtful_ = true;
      return synced;
    }
    synced_size_ = size_;
    synced_number_ = number_;
    return {};
  }

  /// Begins the next segment. The old one is synced first, so that a later segment never outlives an earlier one.
  Result<void> roll() {
    MW_TRY(sync_file());
    const uint64_t old = segment_;
    MW_TRY(create(old + 1, number_ + 1));
    sealer_.add(old);
    return {};
  }

  /// After a failed sync the system may have forgotten the pages and say yes to the next sync (fsync(2) on Linux), so
  /// what was not synced is written once more, into a new segment whose header says where it takes over.
  Result<void> write_again() {
    auto file = disk_.open_read(path(segment::plain_name(segment_)));
    if (!file.ok()) return file.error();
    const uint64_t from = synced_size_;
    std::string tail;
    MW_TRY((*file)->read_at(from, size_ - from, tail));
    if (tail.size() != size_ - from) return Error{Error::Code::kIo, cat("cannot read back ", folder_), ""};
    if (from == 0) tail.erase(0, tail.find('\n') + 1);  // its header; the new segment has its own
    const uint64_t old = segment_;
    const uint64_t first = from == 0 ? first_number(tail) : synced_number_ + 1;
    buffer_.insert(0, tail);
    Result<void> created = create(old + 1, first);
    if (!created.ok()) {
      buffer_.erase(0, tail.size());
      return created;
    }
    torn_ = doubtful_ = false;
    return {};
  }

  uint64_t first_number(std::string_view lines) const {
    uint64_t number = 0;
    std::string_view json;
    return segment::take_line(lines.substr(0, lines.find('\n')), number, json) ? number : number_ + 1;
  }

  Disk& disk_;
  std::string folder_;
  Options options_;
  Sealer sealer_;
  std::unique_ptr<AppendFile> file_;
  std::string buffer_;
  uint64_t number_ = 0, segment_ = 0;
  uint64_t size_ = 0;         ///< bytes of the segment that are known to be ours
  uint64_t synced_size_ = 0;  ///< of these, on the medium for certain
  uint64_t synced_number_ = 0;
  size_t refused_bytes_ = 0;  ///< of the buffer when the disk last refused it
  bool torn_ = false;         ///< a failed append may have left bytes behind size_
  bool doubtful_ = false;     ///< a sync failed
};

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(Disk& disk, std::string folder, Reader* reader) {
  return open(disk, std::move(folder), reader, Options{});
}

Result<std::unique_ptr<Journal>> Journal::open(Disk& disk, std::string folder, Reader* reader, const Options& options) {
  auto journal = std::make_unique<FileJournal>(disk, std::move(folder), options);
  MW_TRY(journal->start(reader));
  return std::unique_ptr<Journal>(std::move(journal));
}

Result<void> Journal::read(Disk& disk, const std::string& folder, Reader& reader) {
  const auto segments = segment::list(disk, folder, nullptr);
  if (!segments.ok()) return segments.error();
  const auto outcome = segment::read(disk, folder, *segments, &reader);
  if (!outcome.ok()) return outcome.error();
  return {};
}

}  // namespace mw
