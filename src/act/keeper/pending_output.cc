#include "act/keeper/pending_output.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "platform/open_files.h"

namespace mw {
namespace {

constexpr const char* kName = "midwatch-pending-output";
constexpr std::string_view kSeenAs = "/memfd:midwatch-pending-output";
constexpr off_t kDataAt = 4096;

/// At the beginning of the memory. `change` is odd while the rest is being written, and another one afterwards.
struct Header {
  uint64_t change = 0, device = 0, inode = 0, from = 0, length = 0;
};

bool put(int file, const void* bytes, size_t size, off_t at) {
  for (size_t done = 0; done < size;) {
    const ssize_t wrote =
        pwrite(file, static_cast<const char*>(bytes) + done, size - done, at + static_cast<off_t>(done));
    if (wrote <= 0) return false;
    done += static_cast<size_t>(wrote);
  }
  return true;
}

}  // namespace

PendingOutput::PendingOutput() : file_(memfd_create(kName, MFD_CLOEXEC)) {
  const Header none;
  if (file_ >= 0) (void)put(file_, &none, sizeof none, 0);
}

PendingOutput::~PendingOutput() {
  if (file_ >= 0) close(file_);
}

void PendingOutput::show(int output, uint64_t from, std::string_view waiting) {
  if (file_ < 0 || (waiting.empty() && length_ == 0)) return;
  if (from == from_ && waiting.size() == length_) return;  // it only grows at its end, and shrinks at its beginning
  struct stat is {};
  if (output < 0 || fstat(output, &is) != 0) return;
  Header header{change_ + 1, is.st_dev, is.st_ino, from, waiting.size()};
  const size_t known = from == from_ ? std::min<size_t>(length_, waiting.size()) : 0;
  const std::string_view news = waiting.substr(known);
  bool done = put(file_, &header, sizeof header, 0);
  if (waiting.empty() && ftruncate(file_, kDataAt) != 0) done = false;
  done = done && put(file_, news.data(), news.size(), kDataAt + static_cast<off_t>(known));
  if (!done) header.length = 0;
  header.change = change_ += 2;
  (void)put(file_, &header, sizeof header, 0);
  from_ = from;
  length_ = header.length;
}

/// The file on the disk, and behind it what waits.
class WithPendingOutput::File final : public ReadFile {
 public:
  File(WithPendingOutput& owner, std::unique_ptr<ReadFile> file) : owner_(owner), file_(std::move(file)) {}

  Result<FileInfo> info() override {
    auto info = file_->info();
    if (!info.ok()) return info;
    const Pending pending = owner_.pending_of(*info);
    if (pending.length == 0) return info;
    info = file_->info();  // asked after what waits: what was written in between is in one of the two
    if (info.ok()) info->size = std::max(info->size, static_cast<int64_t>(pending.end()));
    return info;
  }

  Result<void> read_at(uint64_t offset, size_t size, std::string& out) override {
    const auto info = file_->info();
    const Pending pending = info.ok() ? owner_.pending_of(*info) : Pending();
    MW_TRY(file_->read_at(offset, size, out));
    const uint64_t at = offset + out.size();
    if (out.size() >= size || at < pending.from || at >= pending.end()) return {};
    out += owner_.read(pending, at, size - out.size());
    return {};
  }

 private:
  WithPendingOutput& owner_;
  std::unique_ptr<ReadFile> file_;
};

WithPendingOutput::WithPendingOutput(Disk& disk, std::string path, std::function<int64_t()> keeper)
    : PassingDisk(disk), path_(std::move(path)), keeper_(std::move(keeper)) {}

WithPendingOutput::~WithPendingOutput() {
  if (memory_ >= 0) close(memory_);
}

void WithPendingOutput::follow() {
  const int64_t keeper = keeper_();
  if (keeper == 0 || keeper == followed_) return;
  const auto files = open_files(keeper);
  if (!files.ok()) return;
  followed_ = keeper;
  int found = -1;
  for (const OpenFile& one : *files) {
    if (!one.target.starts_with(kSeenAs)) continue;
    found = open(cat("/proc/", keeper, "/fd/", one.number).c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (memory_ >= 0) close(memory_);
  memory_ = found;
}

WithPendingOutput::Pending WithPendingOutput::pending_of(const FileInfo& file) {
  follow();
  Header header;
  if (memory_ < 0 || pread(memory_, &header, sizeof header, 0) != sizeof header) return {};
  const bool same = header.device == file.device && header.inode == file.inode;
  // While it is being written what was there before counts: a file that seemed shorter would be read again.
  if (header.change % 2 != 0) return last_.device == file.device && last_.inode == file.inode ? last_ : Pending();
  last_ = same ? Pending{header.change, header.device, header.inode, header.from, header.length} : Pending();
  return last_;
}

std::string WithPendingOutput::read(const Pending& pending, uint64_t offset, size_t most) const {
  std::string bytes(static_cast<size_t>(std::min<uint64_t>(most, pending.end() - offset)), '\0');
  const ssize_t got = pread(memory_, bytes.data(), bytes.size(), kDataAt + static_cast<off_t>(offset - pending.from));
  Header now;
  const bool same = pread(memory_, &now, sizeof now, 0) == sizeof now && now.change == pending.change;
  bytes.resize(same && got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

Result<std::unique_ptr<ReadFile>> WithPendingOutput::open_read(const std::string& path) {
  auto file = disk_.open_read(path);
  if (!file.ok() || path != path_) return file;
  return std::unique_ptr<ReadFile>(std::make_unique<File>(*this, std::move(*file)));
}

Result<FileInfo> WithPendingOutput::info(const std::string& path) {
  auto info = disk_.info(path);
  if (!info.ok() || path != path_) return info;
  const Pending pending = pending_of(*info);
  if (pending.length > 0) info->size = std::max(info->size, static_cast<int64_t>(pending.end()));
  return info;
}

}  // namespace mw
