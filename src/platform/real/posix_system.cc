#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "platform/real/from_errno.h"
#include "platform/system.h"

namespace mw {
namespace {

constexpr size_t kRecordBytes = 8192;    // a kernel log record, with its head and dictionary (printk's own bound)
constexpr size_t kRecordsAtOnce = 2000;  // records taken by one call

/// A file descriptor that closes itself.
class Handle {
 public:
  explicit Handle(int number) : number_(number) {}
  ~Handle() {
    if (number_ >= 0) close(number_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

class PosixSystem final : public System {
 public:
  explicit PosixSystem(const std::string& root) : root_(root) {}

  Result<std::string> read(const std::string& path, size_t limit) override {
    const Handle file(open(placed(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0) return from_errno(path);
    std::string out;
    char piece[4096];
    while (out.size() < limit) {
      const ssize_t got = ::read(file.number(), piece, std::min(sizeof piece, limit - out.size()));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return from_errno(path);
      if (got == 0) break;
      out.append(piece, static_cast<size_t>(got));
    }
    return out;
  }

  Result<std::vector<std::string>> names(const std::string& folder) override {
    std::vector<std::string> found;
    const auto seen = walk(folder, [&found](const char* name) { found.emplace_back(name); });
    if (!seen.ok()) return seen.error();
    return found;
  }

  Result<std::string> link(const std::string& path) override {
    char target[PATH_MAX];
    const ssize_t got = readlink(placed(path).c_str(), target, sizeof target);
    if (got < 0 && errno == EINVAL) return Error{Error::Code::kInvalid, cat(path, " is no link"), ""};
    if (got < 0) return from_errno(path);
    return std::string(target, static_cast<size_t>(got));
  }

  Result<size_t> count(const std::string& folder) override {
    return walk(folder, [](const char*) {});
  }

  Result<Entry> entry(const std::string& path) override {
    struct stat info {};
    if (lstat(placed(path).c_str(), &info) != 0) return from_errno(path);
    Entry found;
    found.name = basename(path);
    found.folder = S_ISDIR(info.st_mode);
    found.file = S_ISREG(info.st_mode);
    found.executable = (info.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
    found.bytes = static_cast<int64_t>(info.st_blocks) * 512;
    found.changed_ns = static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
    found.device = info.st_dev;
    found.inode = info.st_ino;
    found.owner = info.st_uid;
    found.links = info.st_nlink;
    struct statx more {};
    if (statx(AT_FDCWD, placed(path).c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &more) == 0 &&
        (more.stx_mask & STATX_BTIME) != 0) {
      found.born_ns = static_cast<int64_t>(more.stx_btime.tv_sec) * 1'000'000'000 + more.stx_btime.tv_nsec;
    }
    return found;
  }

  Result<Space> space(const std::string& path) override {
    struct statvfs info {};
    if (statvfs(placed(path).c_str(), &info) != 0) return from_errno(path);
    const auto unit = static_cast<int64_t>(info.f_frsize);
    return Space{static_cast<int64_t>(info.f_bavail) * unit, static_cast<int64_t>(info.f_blocks) * unit,
                 static_cast<int64_t>(info.f_favail), static_cast<int64_t>(info.f_files)};
  }

  Result<std::string> real(const std::string& path) override {
    char found[PATH_MAX];
    if (realpath(placed(path).c_str(), found) == nullptr) return from_errno(path);
    return std::string(found);
  }

  Result<std::vector<std::string>> kernel_lines() override {
    if (!log_) {
      // Not behind a test's root: there is no such thing as a copy of it.
      log_ = std::make_unique<Handle>(open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK));
      if (log_->number() < 0) {
        const Error error = from_errno("/dev/kmsg");
        log_.reset();
        return error;
      }
      lseek(log_->number(), 0, SEEK_END);
    }
    std::vector<std::string> lines;
    char record[kRecordBytes];
    while (lines.size() < kRecordsAtOnce) {
      const ssize_t got = ::read(log_->number(), record, sizeof record);
      if (got < 0 && (errno == EINTR || errno == EPIPE)) continue;  // EPIPE: some were overwritten before we came
      if (got < 0 && errno == EAGAIN) break;
      if (got < 0) return from_errno("/dev/kmsg");
      if (got == 0) break;
      // "6,1234,5678901234,-;text\n SUBSYSTEM=pci\n ..." (Documentation/ABI/testing/dev-kmsg)
      const std::string_view whole(record, static_cast<size_t>(got));
      const size_t begin = whole.find(';');
      if (begin == std::string_view::npos) continue;
      const std::string_view text = whole.substr(begin + 1);
      lines.emplace_back(text.substr(0, text.find('\n')));
    }
    return lines;
  }

 private:
  std::string placed(const std::string& path) const {
    const bool kernel = path.rfind("/proc", 0) == 0 || path.rfind("/sys", 0) == 0;
    return kernel ? root_ + path : path;
  }

  template <typename Visit>
  Result<size_t> walk(const std::string& folder, Visit&& visit) {
    DIR* open_folder = opendir(placed(folder).c_str());
    if (open_folder == nullptr) return from_errno(folder);
    size_t seen = 0;
    while (seen < kNames) {
      const dirent* entry = readdir(open_folder);
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      visit(entry->d_name);
      ++seen;
    }
    closedir(open_folder);
    return seen;
  }

  std::string root_;
  std::unique_ptr<Handle> log_;
};

}  // namespace

std::unique_ptr<System> make_posix_system(const std::string& root) { return std::make_unique<PosixSystem>(root); }

}  // namespace mw
