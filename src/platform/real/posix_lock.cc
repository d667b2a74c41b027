#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "platform/lock.h"

namespace mw {
namespace {

class PosixLock final : public Lock {
 public:
  explicit PosixLock(int file) : file_(file) {}
  ~PosixLock() override { close(file_); }
  PosixLock(const PosixLock&) = delete;
  PosixLock& operator=(const PosixLock&) = delete;

 private:
  int file_;
};

Result<std::unique_ptr<Lock>> take_posix(const std::string& path) {
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
  return std::unique_ptr<Lock>(std::make_unique<PosixLock>(file));
}

class PosixLocks final : public Locks {
 public:
  Result<std::unique_ptr<Lock>> take(const std::string& path) override { return take_posix(path); }
};

}  // namespace

std::unique_ptr<Locks> make_posix_locks() { return std::make_unique<PosixLocks>(); }

}  // namespace mw
