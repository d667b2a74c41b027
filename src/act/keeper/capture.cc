#include "act/keeper/capture.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kAtOnce = 1U << 20;         // bytes of one read or splice
constexpr size_t kLineSearched = 64U << 10;  // bytes searched for a line's end at which to rotate
constexpr int kMostRotated = 1000;           // files; beyond them the last is reused
constexpr std::string_view kReserve = ".reserve", kOldReserve = ".ballast";  // the latter is midwatch 0.1's

Error from_errno(const std::string& path) {
  return {errno == ENOSPC || errno == EDQUOT ? Error::Code::kFull : Error::Code::kIo,
          cat(path, ": ", std::strerror(errno)), ""};
}

int open_output(const std::string& path) { return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }

}  // namespace

Capture::Capture(int pipe, std::string path, uint64_t rotate_bytes)
    : pipe_(pipe), path_(std::move(path)), rotate_bytes_(rotate_bytes) {}

Capture::~Capture() {
  if (file_ >= 0) close(file_);
  unlink(cat(path_, kReserve).c_str());
}

Result<void> Capture::open() {
  file_ = open_output(path_);
  if (file_ < 0) return from_errno(path_);
  const off_t end = lseek(file_, 0, SEEK_END);
  size_ = end > 0 ? static_cast<uint64_t>(end) : 0;
  unlink(cat(path_, kOldReserve).c_str());
  const std::string reserve = cat(path_, kReserve);
  if (const int file = open_output(reserve); file >= 0) {
    if (posix_fallocate(file, 0, kReserveBytes) != 0) unlink(reserve.c_str());
    close(file);
  }
  return {};
}

bool Capture::release_reserve() { return unlink(cat(path_, kReserve).c_str()) == 0; }

size_t Capture::pump(size_t most) {
  const size_t moved = move(most);
  show_waiting();
  return moved;
}

size_t Capture::move(size_t most) {
  if (file_ < 0) file_ = open_output(path_);
  write_waiting();
  if (size_ >= rotate_bytes_ && waiting_.empty()) return rotate_at_line_end();
  if (can_splice_ && waiting_.empty() && file_ >= 0) {
    const size_t moved = splice_some(most);
    if (moved > 0 || can_splice_) return moved;
  }
  return read_some(most);
}

void Capture::say(std::string_view line) {
  char last = '\n';
  if (!waiting_.empty()) {
    last = waiting_.back();
  } else if (file_ >= 0 && size_ > 0 && pread(file_, &last, 1, static_cast<off_t>(size_ - 1)) != 1) {
    last = '\n';
  }
  if (last != '\n') waiting_ += '\n';
  waiting_ += line;
  waiting_ += '\n';
  write_waiting();
  show_waiting();
}

size_t Capture::splice_some(size_t most) {
  size_t moved = 0;
  while (moved < most && size_ < rotate_bytes_) {
    const size_t want = std::min({most - moved, kAtOnce, static_cast<size_t>(rotate_bytes_ - size_)});
    const ssize_t got = splice(pipe_, nullptr, file_, nullptr, want, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    const int problem = got < 0 ? errno : 0;
    if (got > 0) {
      moved += static_cast<size_t>(got);
      size_ += static_cast<uint64_t>(got);
    } else if (got == 0 || problem == EAGAIN) {
      break;
    } else if (problem == ENOSPC || problem == EDQUOT || problem == EIO) {
      if (!release_reserve()) return moved + read_some(most - moved);  // the pipe must not fill up
    } else if (problem != EINTR) {
      can_splice_ = false;
      break;
    }
  }
  return moved;
}

size_t Capture::read_some(size_t most) {
  size_t moved = 0;
  std::string piece;
  while (moved < most) {
    piece.resize(std::min(most - moved, kAtOnce));
    const ssize_t got = read(pipe_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    moved += static_cast<size_t>(got);
    const size_t room = kWaitingBytes - std::min(kWaitingBytes, waiting_.size());
    const size_t kept = std::min(room, static_cast<size_t>(got));
    waiting_.append(piece, 0, kept);
    lost_ += static_cast<uint64_t>(got) - kept;
    write_waiting();
  }
  return moved;
}

void Capture::write_waiting() {
  size_t done = 0;
  while (file_ >= 0 && done < waiting_.size()) {
    const ssize_t put = write(file_, waiting_.data() + done, waiting_.size() - done);
    if (put > 0) {
      done += static_cast<size_t>(put);
      size_ += static_cast<uint64_t>(put);
    } else if (put < 0 && errno == EINTR) {
      continue;
    } else if (!release_reserve()) {
      break;
    }
  }
  waiting_.erase(0, done);
}

size_t Capture::rotate_at_line_end() {
  std::string piece(kLineSearched, '\0');
  ssize_t got;
  do {
    got = read(pipe_, piece.data(), piece.size());
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return 0;
  piece.resize(static_cast<size_t>(got));
  const size_t end = piece.find('\n');
  waiting_.assign(piece, 0, end == std::string::npos ? piece.size() : end + 1);
  write_waiting();
  const bool full = !waiting_.empty();
  if (!full && end != std::string::npos) rotate();
  if (end != std::string::npos) waiting_.append(piece, end + 1);
  if (!full) write_waiting();
  return static_cast<size_t>(got);
}

void Capture::rotate() {
  close(file_);
  int number = 1;
  while (number < kMostRotated && access(cat(path_, ".", number).c_str(), F_OK) == 0) ++number;
  if (rename(path_.c_str(), cat(path_, ".", number).c_str()) != 0) rotate_bytes_ = UINT64_MAX;  // no rotation any more
  file_ = open_output(path_);
  const off_t end = file_ >= 0 ? lseek(file_, 0, SEEK_END) : 0;
  size_ = end > 0 ? static_cast<uint64_t>(end) : 0;
}

}  // namespace mw
