// Ends a command when the loop that watches it cannot, as it hangs: in a home whose file server is gone, in a terminal
// that takes no output. It needs no file that can be written.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "act/supervise/process_tree.h"
#include "platform/clock.h"
#include "platform/process.h"
#include "platform/watch.h"

namespace mw {

/// Without /proc nobody's process can be seen or ended: kIo.
Result<void> can_see_processes(Processes& processes);

/// Sends each process SIGINT once at most, and SIGTERM, whoever asks, and from whichever thread: a second one breaks
/// off what a trainer saves after the first.
class InterruptOnce final : public Processes {
 public:
  explicit InterruptOnce(Processes& processes) : processes_(processes) {}
  Result<ProcessInfo> info(int64_t pid) override { return processes_.info(pid); }
  std::vector<ProcessInfo> all() override { return processes_.all(); }
  std::string boot() override { return processes_.boot(); }
  bool carries(const ProcessInfo& process, std::string_view marker) override {
    return processes_.carries(process, marker);
  }
  bool carries_further(const ProcessInfo& process, std::string_view marker) override {
    return processes_.carries_further(process, marker);
  }
  bool between_programs(const ProcessInfo& process) override { return processes_.between_programs(process); }
  Result<void> signal(const ProcessId& id, int signal) override;

 private:
  Processes& processes_;
  std::mutex mutex_;
  std::set<std::tuple<int64_t, uint64_t, int>> sent_;  // number, start, signal
};

/// Listens to signals beside the loop. While the loop turns it does nothing but pass SIGUSR1 and SIGUSR2 on.
class StopWatchdog final : public SignalListener {
 public:
  /// For how long the loop may be silent, once a first SIGINT or SIGTERM came, before the watchdog asks the command to
  /// end (SIGINT, SIGTERM, SIGKILL within its grace). A turn takes 0.1 s, a slow fsync a second.
  static constexpr Duration kPatience = Duration::seconds(2);
  /// After a second one: everything is killed so long after it, whatever the loop does, ...
  static constexpr Duration kUntilKill = Duration::millis(300);
  /// ... and where the loop is silent for so long, the process ends, too.
  static constexpr Duration kUntilExit = Duration::millis(700);
  /// For what is done after the loop (people are notified, components end), where that hangs.
  static constexpr Duration kEndingPatience = Duration::seconds(60), kShortEndingPatience = Duration::seconds(10);
  static constexpr Duration kTick = Duration::millis(100);  ///< between polls once a stop was requested
  /// For how long SIGUSR1 or SIGUSR2 is kept for a command that is not there yet, or does not handle it yet.
  static constexpr Duration kKept = Duration::seconds(10);

  /// What came from one keeper.
  struct Guarded {
    ProcessId keeper, command;
    bool operator==(const Guarded&) const = default;
  };
  /// `status`: of the process, where it ends without the loop and nothing was killed. It listens to `watch` while it
  /// lives. `heard` is called once, with the signal of the first request, before anything else, on the thread of the
  /// signals: it may wait for no disk. `exit` is _exit(2), except in tests.
  StopWatchdog(Watch& watch, Processes& processes, Clock& clock, int status,
               std::function<void(int signal)> heard = nullptr, std::function<void(int)> exit = nullptr);
  ~StopWatchdog() override;
  StopWatchdog(const StopWatchdog&) = delete;
  StopWatchdog& operator=(const StopWatchdog&) = delete;

  /// Whose processes are to end, by the loop, whenever that changes. `grace` as in ProcessTree::ask_to_end().
  void guard(std::vector<Guarded> guarded, Duration grace);
  std::optional<Duration> poll(const Poll& now) override;

 private:
  bool pass_on(int signal);
  void pass_on_kept();
  std::optional<Duration> ask(const Poll& now);
  std::optional<Duration> force(const Poll& now, Duration ago);
  bool any_left() const;
  void leave(int status, const char* what);

  Watch& watch_;
  Processes& processes_;
  Clock& clock_;
  int status_;
  std::function<void(int signal)> heard_;
  std::function<void(int)> exit_;
  std::mutex mutex_;
  std::vector<Guarded> guarded_;
  Duration grace_;
  std::vector<std::unique_ptr<ProcessTree>> trees_;  // of guarded_, in their order
  std::map<int, Duration> kept_;                     // signals that nobody handles yet, and when they came
  std::optional<Duration> second_;                   // when the second request to stop came
  int first_ = 0;                                    // the signal of the first request
  bool killed_ = false;
};

}  // namespace mw
