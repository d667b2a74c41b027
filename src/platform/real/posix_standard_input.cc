#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/real/from_errno.h"
#include "platform/standard_input.h"

namespace mw {
namespace {

constexpr size_t kPiece = size_t{64} << 10;
constexpr int kWritersEndMs = 1000;  // a shell writes what stands in a script at once; so does cat
constexpr int kAskStoppedMs = 100;

Error too_much(double bytes) {
  return {Error::Code::kUnsupported,
          cat("the command's standard input has ", bytes > 0 ? format_bytes(bytes) : "more", "; midwatch keeps ",
              format_bytes(static_cast<double>(kMostInput)), " of it at most, to give it to every attempt"),
          "Name the file in the command; or add < /dev/null, if the command reads no input."};
}

Result<GivenInput> of_file(int file, int64_t size) {
  const off_t from = lseek(file, 0, SEEK_CUR);
  if (from < 0) return from_errno("the command's standard input");
  const int64_t left = std::max<int64_t>(0, size - from);
  if (left > static_cast<int64_t>(kMostInput)) return too_much(static_cast<double>(left));
  GivenInput given;
  given.text.resize(static_cast<size_t>(left));
  size_t done = 0;
  while (done < given.text.size()) {
    const ssize_t got =
        pread(file, given.text.data() + done, given.text.size() - done, from + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return from_errno("the command's standard input");
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  given.text.resize(done);
  return given;
}

Result<GivenInput> to_its_end(int file, const std::function<bool()>& stopped) {
  GivenInput given;
  std::string piece(kPiece, 0);
  for (;;) {
    pollfd waiting{file, POLLIN, 0};
    if (poll(&waiting, 1, kAskStoppedMs) == 0) {
      if (stopped && stopped()) return Error{Error::Code::kInvalid, "a stop was requested before the run began", ""};
      continue;
    }
    const ssize_t got = read(file, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return from_errno("the command's standard input");
    if (got == 0) return given;
    given.text.append(piece, 0, static_cast<size_t>(got));
    if (given.text.size() > kMostInput) return too_much(0);
  }
}

/// What is in a pipe; it stays there. Its writers have ended, so nothing is added meanwhile. Empty where that cannot be
/// done.
std::string copy_of_pipe(int file, size_t bytes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  (void)fcntl(ends[1], F_SETPIPE_SZ, fcntl(file, F_GETPIPE_SZ));
  std::string text;
  if (tee(file, ends[1], bytes, SPLICE_F_NONBLOCK) == static_cast<ssize_t>(bytes)) {
    text.resize(bytes);
    size_t done = 0;
    while (done < bytes) {
      const ssize_t got = read(ends[0], text.data() + done, bytes - done);
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    text.resize(done);
  }
  close(ends[0]);
  close(ends[1]);
  return text;
}

Result<GivenInput> of_pipe(int file) {
  pollfd state{file, POLLIN, 0};
  if (poll(&state, 1, 0) <= 0) return GivenInput{};  // somebody may write into it one day, as of a service's pipe
  for (int waited = 0; (state.revents & POLLHUP) == 0 && waited < kWritersEndMs; waited += 10) {
    usleep(10'000);
    if (poll(&state, 1, 0) < 0) break;
  }
  int bytes = 0;
  if (ioctl(file, FIONREAD, &bytes) != 0 || bytes <= 0) return GivenInput{};
  GivenInput given;
  if ((state.revents & POLLHUP) != 0) given.text = copy_of_pipe(file, static_cast<size_t>(bytes));
  given.open = given.text.empty();
  return given;
}

}  // namespace

Result<GivenInput> given_input(int file, bool needed, const std::function<bool()>& stopped) {
  struct stat is {};
  if (fstat(file, &is) != 0) return GivenInput{};
  if (S_ISREG(is.st_mode)) return of_file(file, is.st_size);
  if (needed && isatty(file) == 1) {
    return Error{Error::Code::kInvalid, "the command reads its program from standard input, which is a terminal",
                 "Write the program into a file, and give it as an argument or as < FILE."};
  }
  if (needed && (S_ISFIFO(is.st_mode) || S_ISSOCK(is.st_mode))) return to_its_end(file, stopped);
  if (S_ISFIFO(is.st_mode)) return of_pipe(file);
  return GivenInput{};
}

}  // namespace mw
