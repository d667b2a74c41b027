#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "platform/watch.h"

namespace mw {
namespace {

class PosixWatch final : public Watch {
 public:
  PosixWatch(int notify, int signals) : notify_(notify), signals_(signals) {}
  ~PosixWatch() override {
    if (notify_ >= 0) close(notify_);
    close(signals_);
  }
  PosixWatch(const PosixWatch&) = delete;
  PosixWatch& operator=(const PosixWatch&) = delete;

  void add(const std::string& path) override {
    if (notify_ < 0 || !watched_.insert(path).second) return;
    const uint32_t changes =
        IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB | IN_CLOSE_WRITE;
    if (inotify_add_watch(notify_, path.c_str(), changes) < 0) watched_.erase(path);
  }

  Woke wait(Duration longest) override {
    std::array<pollfd, 2> doors = {pollfd{signals_, POLLIN, 0}, pollfd{notify_, POLLIN, 0}};
    const auto ms = static_cast<int>(std::clamp<int64_t>(longest.ns / 1'000'000, 0, 3'600'000));
    const int ready = ::poll(doors.data(), notify_ >= 0 ? 2 : 1, ms);
    if (ready <= 0) return Woke::kTimeout;
    signalfd_siginfo told;
    if ((doors[0].revents & POLLIN) != 0 && ::read(signals_, &told, sizeof told) > 0) return Woke::kStop;
    return drain();
  }

 private:
  /// What exactly changed does not matter: every source looks for itself. Names that lost their watch may be added
  /// anew.
  Woke drain() {
    constexpr uint32_t kOfNames = IN_CREATE | IN_MOVED_TO | IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF | IN_Q_OVERFLOW;
    Woke woke = Woke::kChange;
    alignas(inotify_event) std::array<char, 16384> buffer;
    for (;;) {
      const ssize_t got = ::read(notify_, buffer.data(), buffer.size());
      if (got <= 0) return woke;
      for (ssize_t at = 0; at < got;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        if ((event->mask & kOfNames) != 0) woke = Woke::kNames;
        if ((event->mask & (IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF)) != 0) watched_.clear();
        at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
      }
    }
  }

  int notify_, signals_;
  std::set<std::string> watched_;
};

}  // namespace

Result<std::unique_ptr<Watch>> Watch::make() {
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  if (sigprocmask(SIG_BLOCK, &stops, nullptr) != 0) return Error{Error::Code::kIo, std::strerror(errno), ""};
  const int signals = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) return Error{Error::Code::kIo, std::string("signalfd: ") + std::strerror(errno), ""};
  // Without inotify (its limits are per user and often used up) the time-outs serve alone.
  const int notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  return std::unique_ptr<Watch>(std::make_unique<PosixWatch>(notify, signals));
}

}  // namespace mw
