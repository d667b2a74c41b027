#include "app/posix_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace mw {
namespace {

constexpr size_t kErasureLimit = 512;  // bytes; those of a block are fewer
constexpr size_t kAtOnce = 1024;       // bytes per write where the terminal could not be opened anew: it may wait then

/// What the handler of SIGTSTP needs; a handler sees nothing but globals.
struct Suspension {
  std::array<std::array<char, kErasureLimit>, 2> erasures = {};
  std::array<size_t, 2> sizes = {};
  std::atomic<int> which{0};
  std::atomic<int> terminal{-1};
  std::atomic<bool> resumed{false};
};
Suspension suspension;

extern "C" void suspend(int signal) {
  const int before = errno;
  const auto which = static_cast<size_t>(suspension.which.load());
  [[maybe_unused]] const ssize_t put =
      ::write(suspension.terminal, suspension.erasures[which].data(), suspension.sizes[which]);
  // Stops this process as if nobody had asked to hear of it.
  struct sigaction plain = {}, ours = {};
  plain.sa_handler = SIG_DFL;
  ::sigaction(signal, &plain, &ours);
  ::raise(signal);
  ::sigaction(signal, &ours, nullptr);
  suspension.resumed = true;
  errno = before;
}

class PosixTerminal final : public LiveTerminal {
 public:
  /// `own`: a description of the terminal of our own, which does not wait.
  PosixTerminal(int file, bool own) : file_(file), own_(own) {}
  ~PosixTerminal() override {
    PosixTerminal::end();
    if (own_) ::close(file_);
  }
  PosixTerminal(const PosixTerminal&) = delete;
  PosixTerminal& operator=(const PosixTerminal&) = delete;

  ScreenSize size() override {
    winsize size{};
    if (::ioctl(file_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) return {size.ws_row, size.ws_col};
    return {};
  }

  std::optional<size_t> write(std::string_view bytes) override {
    if (!own_) {
      pollfd ready{file_, POLLOUT, 0};
      if (::poll(&ready, 1, 0) <= 0 || (ready.revents & POLLOUT) == 0) {
        return (ready.revents & (POLLERR | POLLHUP)) != 0 ? std::nullopt : std::optional<size_t>(0);
      }
      bytes = bytes.substr(0, kAtOnce);
    }
    const ssize_t wrote = ::write(file_, bytes.data(), bytes.size());
    if (wrote >= 0) return static_cast<size_t>(wrote);
    if (errno == EAGAIN || errno == EINTR) return 0;
    return std::nullopt;
  }

  void wait(int milliseconds) override {
    pollfd ready{file_, POLLOUT, 0};
    (void)::poll(&ready, 1, milliseconds);
  }

  bool foreground() override {
    const pid_t group = ::tcgetpgrp(file_);
    return group < 0 || group == ::getpgrp();  // a terminal that controls nobody has no background
  }

  void on_suspend(std::string_view erasure) override {
    const auto next = static_cast<size_t>(1 - suspension.which.load());
    const size_t size = std::min(erasure.size(), kErasureLimit);
    std::memcpy(suspension.erasures[next].data(), erasure.data(), size);
    suspension.sizes[next] = size;
    suspension.which = static_cast<int>(next);
    if (heard_) return;
    heard_ = true;
    suspension.terminal = file_;
    ::sigaction(SIGTSTP, nullptr, &before_);
    if (before_.sa_handler != SIG_DFL) return;  // ignored, by whoever started us
    struct sigaction ours = {};
    ours.sa_handler = suspend;
    ours.sa_flags = SA_NODEFER | SA_RESTART;
    taken_ = ::sigaction(SIGTSTP, &ours, nullptr) == 0;
  }

  bool resumed() override { return suspension.resumed.exchange(false); }

  void end() override {
    if (taken_) ::sigaction(SIGTSTP, &before_, nullptr);
    heard_ = taken_ = false;
  }

 private:
  int file_;
  bool own_;
  bool heard_ = false, taken_ = false;
  struct sigaction before_ = {};
};

}  // namespace

std::unique_ptr<LiveTerminal> make_posix_terminal() {
  if (::isatty(STDOUT_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) return nullptr;
  const char* term = std::getenv("TERM");
  if (term == nullptr || *term == '\0' || std::string_view(term) == "dumb") return nullptr;
  struct stat out = {}, err = {};
  if (::fstat(STDOUT_FILENO, &out) != 0 || ::fstat(STDERR_FILENO, &err) != 0 || out.st_rdev != err.st_rdev) {
    return nullptr;
  }
  // Not O_NONBLOCK on standard output itself: whoever shares it, a shell and its other commands, would find it so.
  const int own = ::open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (own >= 0) return std::make_unique<PosixTerminal>(own, true);
  return std::make_unique<PosixTerminal>(STDOUT_FILENO, false);
}

}  // namespace mw
