#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "platform/watch.h"

namespace mw {
namespace {

/// Files that a watch must be able to open besides those that are open when it begins: journal, lock, logs, pipes to
/// keepers, connections.
constexpr size_t kFilesNeeded = 32;

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

sigset_t our_signals() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) sigaddset(&ours, signal);
  return ours;
}

/// Takes the signals that were blocked, one after the other, on a thread of its own: it needs no descriptor, and hears
/// them whatever the loop does.
class SignalThread {
 public:
  explicit SignalThread(int stops) : stops_(stops), thread_([this] { hear(); }) {}
  ~SignalThread() {
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
  }
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

  void listen(SignalListener* listener) {
    const std::lock_guard<std::mutex> held(mutex_);
    listener_ = listener;
  }
  /// The loop lives. `waiting`: it waits for us, and is no more silent for that.
  void sign_of_life(bool waiting) { last_sign_ = waiting ? kWaits : steady_ns(); }
  void ending() { ending_ = true; }
  int stop_signal() const { return stop_signal_; }

 private:
  static constexpr int64_t kWaits = -1;

  void hear() {
    const sigset_t ours = our_signals();
    std::optional<Duration> again;
    while (!over_) {
      const timespec longest{again ? again->ns / 1'000'000'000 : 0, again ? again->ns % 1'000'000'000 : 0};
      const int signal = again ? sigtimedwait(&ours, nullptr, &longest) : sigwaitinfo(&ours, nullptr);
      if (over_) return;
      if (signal < 0 && errno != EAGAIN) continue;
      again = notify(std::max(signal, 0));
    }
  }

  std::optional<Duration> notify(int signal) {
    if (signal == SIGINT || signal == SIGTERM) {
      if (++came_ == 1) stop_signal_ = signal;
      const uint64_t one = 1;
      [[maybe_unused]] const ssize_t put = ::write(stops_, &one, sizeof one);
    }
    const int64_t last = last_sign_;
    const Duration silent{last == kWaits ? 0 : std::max<int64_t>(0, steady_ns() - last)};
    const std::lock_guard<std::mutex> held(mutex_);
    return listener_ == nullptr ? std::nullopt : listener_->poll({signal, came_, silent, ending_});
  }

  int stops_;
  int came_ = 0;
  std::atomic<int64_t> last_sign_{steady_ns()};
  std::atomic<bool> over_{false}, ending_{false};
  std::atomic<int> stop_signal_{0};
  std::mutex mutex_;
  SignalListener* listener_ = nullptr;
  std::thread thread_;  // last: it uses all of the others
};

class PosixWatch final : public Watch {
 public:
  PosixWatch(int notify, int stops, const sigset_t& before)
      : notify_(notify), stops_(stops), before_(before), signals_(std::make_unique<SignalThread>(stops)) {}
  ~PosixWatch() override {
    signals_.reset();
    if (notify_ >= 0) close(notify_);
    close(stops_);
    // What came meanwhile was for the watch that is over; what comes from now on ends the process as usual.
    const sigset_t ours = our_signals();
    const timespec at_once{};
    while (sigtimedwait(&ours, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
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
    std::array<pollfd, 2> doors = {pollfd{stops_, POLLIN, 0}, pollfd{notify_, POLLIN, 0}};
    const auto ms = static_cast<int>(std::clamp<int64_t>(longest.ns / 1'000'000, 0, 3'600'000));
    signals_->sign_of_life(true);
    const int ready = ::poll(doors.data(), notify_ >= 0 ? 2 : 1, ms);
    signals_->sign_of_life(false);
    if (ready <= 0) return Woke::kTimeout;
    if ((doors[0].revents & POLLIN) != 0 && take_stop()) return Woke::kStop;
    return drain();
  }

  bool stop_came() override {
    signals_->sign_of_life(false);
    return take_stop();
  }
  int stop_signal() const override { return signals_->stop_signal(); }
  void ending() override { signals_->ending(); }
  void listen(SignalListener* listener) override { signals_->listen(listener); }

 private:
  bool take_stop() {
    uint64_t one = 0;
    return ::read(stops_, &one, sizeof one) == sizeof one;
  }

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

  int notify_, stops_;  // inotify, and a counter of requests to end
  sigset_t before_;
  std::unique_ptr<SignalThread> signals_;
  std::set<std::string> watched_;
};

/// A watch that may open hardly anything would fail here and there, again and again: better at once.
Result<void> enough_files() {
  std::vector<int> files;
  int problem = 0;
  while (files.size() < kFilesNeeded && problem == 0) {
    const int file = eventfd(0, EFD_CLOEXEC);
    if (file >= 0) {
      files.push_back(file);
    } else {
      problem = errno;
    }
  }
  const size_t could = files.size();
  for (const int file : files) close(file);
  if (problem == 0) return {};
  return Error{Error::Code::kLimit,
               "only " + std::to_string(could) + " more files can be opened, and a watch needs " +
                   std::to_string(kFilesNeeded) + ": " + std::strerror(problem),
               "Raise the limit of open files: ulimit -n 1024"};
}

}  // namespace

Result<std::unique_ptr<Watch>> Watch::make() {
  MW_TRY(enough_files());
  const sigset_t ours = our_signals();
  sigset_t before;
  if (const int problem = pthread_sigmask(SIG_BLOCK, &ours, &before); problem != 0) {
    return Error{Error::Code::kIo, std::strerror(problem), ""};
  }
  const int stops = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  if (stops < 0) return Error{Error::Code::kIo, std::string("eventfd: ") + std::strerror(errno), ""};
  // Without inotify (its limits are per user and often used up) the time-outs serve alone.
  const int notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  try {
    return std::unique_ptr<Watch>(std::make_unique<PosixWatch>(notify, stops, before));
  } catch (const std::system_error& failed) {  // no more threads for this user
    return Error{Error::Code::kLimit, std::string("no thread can be started: ") + failed.what(),
                 "Raise the limit of processes: ulimit -u"};
  }
}

}  // namespace mw
