#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "platform/lock.h"

namespace mw {
namespace {

constexpr int kTries = 100;

class PosixLock final : public Lock {
 public:
  explicit PosixLock(int file) : file_(file) {}
  ~PosixLock() override {
    if (file_ >= 0) close(file_);
  }
  PosixLock(const PosixLock&) = delete;
  PosixLock& operator=(const PosixLock&) = delete;
  bool excludes() const override { return file_ >= 0; }

 private:
  int file_;
};

/// Its last holder may have removed it between the opening and the locking: another file has its name by now, or none.
bool is_still_there(int file, const std::string& path) {
  struct stat held {
  }, named{};
  return fstat(file, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

Result<std::unique_ptr<Lock>> take_once(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return Error{errno == ENOSPC ? Error::Code::kFull : Error::Code::kIo, path + ": " + std::strerror(errno), ""};
  }
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    const int problem = errno;
    close(file);
    // File systems without locks (some FUSE) must not keep the watch from starting.
    if (problem != EWOULDBLOCK) return std::unique_ptr<Lock>(std::make_unique<PosixLock>(-1));
    return Error{Error::Code::kDenied, path + " is held by another midwatch",
                 "This run is being watched already; end that watch first, or use another --home."};
  }
  if (!is_still_there(file, path)) {
    close(file);
    return std::unique_ptr<Lock>();
  }
  return std::unique_ptr<Lock>(std::make_unique<PosixLock>(file));
}

Result<std::unique_ptr<Lock>> take_posix(const std::string& path) {
  for (int tries = 0; tries < kTries; ++tries) {
    auto lock = take_once(path);
    if (!lock.ok() || *lock != nullptr) return lock;
  }
  return Error{Error::Code::kIo, path + " is removed as often as it is made", ""};
}

class PosixLocks final : public Locks {
 public:
  Result<std::unique_ptr<Lock>> take(const std::string& path) override { return take_posix(path); }
};

}  // namespace

std::unique_ptr<Locks> make_posix_locks() { return std::make_unique<PosixLocks>(); }

}  // namespace mw
