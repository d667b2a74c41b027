#include "act/supervise/stop_watchdog.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "base/text.h"
#include "platform/durable.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

constexpr int kKilled = 128 + SIGKILL;

/// On standard error, unless that would wait for somebody.
void say(const std::string& sentence) {
  pollfd err{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&err, 1, 0) <= 0 || (err.revents & POLLOUT) == 0) return;
  const std::string line = cat("midwatch: ", sentence, "\n");
  [[maybe_unused]] const ssize_t put = ::write(STDERR_FILENO, line.data(), line.size());
}

/// Has the process a handler for `signal`? As /proc/PID/status states; one without would die of it.
bool handles(Disk& disk, int64_t pid, int signal) {
  constexpr std::string_view kField = "\nSigCgt:\t";
  const auto text = read_small(disk, cat("/proc/", pid, "/status"));
  const size_t at = text.ok() ? text->find(kField) : std::string::npos;
  if (at == std::string::npos) return false;
  const auto mask = std::strtoull(text->c_str() + at + kField.size(), nullptr, 16);
  return (mask >> (signal - 1) & 1) != 0;
}

}  // namespace

Result<void> can_see_processes(Processes& processes) {
  if (processes.info(getpid()).ok()) return {};
  return Error{Error::Code::kIo, "the processes of this machine cannot be seen: there is no /proc here",
               "Mount it: mount -t proc proc /proc"};
}

Result<void> InterruptOnce::signal(const ProcessId& id, int signal) {
  if (signal != SIGINT && signal != SIGTERM) return processes_.signal(id, signal);
  const std::lock_guard<std::mutex> held(mutex_);
  if (sent_.count({id.pid, id.start, signal}) > 0) return {};
  MW_TRY(processes_.signal(id, signal));
  sent_.insert({id.pid, id.start, signal});
  return {};
}

StopWatchdog::StopWatchdog(Watch& watch, Processes& processes, Clock& clock, int status,
                           std::function<void(int signal)> heard, std::function<void(int)> exit)
    : watch_(watch),
      processes_(processes),
      clock_(clock),
      status_(status),
      heard_(std::move(heard)),
      exit_(std::move(exit)) {
  watch_.listen(this);
}

StopWatchdog::~StopWatchdog() { watch_.listen(nullptr); }

void StopWatchdog::guard(std::vector<Guarded> guarded, Duration grace) {
  const std::lock_guard<std::mutex> held(mutex_);
  grace_ = grace;
  if (guarded == guarded_) return;
  guarded_ = std::move(guarded);
  trees_.clear();
  for (size_t i = 0; i < guarded_.size(); ++i) {
    trees_.push_back(std::make_unique<ProcessTree>(processes_, clock_, [](const std::string&) {}));
    trees_.back()->of(guarded_[i].keeper, guarded_[i].command);
  }
}

std::optional<Duration> StopWatchdog::poll(const Poll& now) {
  const std::lock_guard<std::mutex> held(mutex_);
  if (now.signal == SIGUSR1 || now.signal == SIGUSR2) kept_[now.signal] = clock_.steady();
  pass_on_kept();
  if (now.stops == 0) return kept_.empty() ? std::nullopt : std::optional(kTick);
  if (first_ == 0 && now.signal != 0 && heard_) heard_(now.signal);
  if (first_ == 0) first_ = now.signal;
  if (now.stops == 1) return ask(now);
  if (!second_) second_ = clock_.steady();
  return force(now, {clock_.steady().ns - second_->ns});
}

/// A signal that comes while the command starts is given to it when it handles it.
void StopWatchdog::pass_on_kept() {
  const Duration now = clock_.steady();
  for (auto kept = kept_.begin(); kept != kept_.end();) {
    const bool over = pass_on(kept->first) || now.ns - kept->second.ns >= kKept.ns;
    kept = over ? kept_.erase(kept) : std::next(kept);
  }
}

/// To those of the command's processes that handle it, as a scheduler means it that sends a warning to all of a job. Is
/// there one?
bool StopWatchdog::pass_on(int signal) {
  bool passed = false;
  const auto disk = make_posix_disk();
  const auto all = processes_.all();
  for (const Guarded& tree : guarded_) {
    if (!tree.command.known()) continue;
    auto family = descendants(all, tree.command.pid);
    for (const ProcessInfo& process : all) {
      const bool in_family = std::any_of(family.begin(), family.end(),
                                         [&process](const ProcessInfo& known) { return known.id == process.id; });
      if (!in_family && process.session == tree.command.pid) family.push_back(process);
    }
    for (const ProcessInfo& process : family) {
      if (handles(*disk, process.id.pid, signal)) passed = processes_.signal(process.id, signal).ok() || passed;
    }
  }
  return passed;
}

bool StopWatchdog::any_left() const {
  return std::any_of(trees_.begin(), trees_.end(), [](const auto& tree) { return tree->any_alive(); });
}

/// The first request: the loop does it, unless it hangs.
std::optional<Duration> StopWatchdog::ask(const Poll& now) {
  const Duration patience = now.ending ? kEndingPatience : kPatience;
  if (now.silent < patience) return kTick;
  for (const auto& tree : trees_) {
    if (!tree->asked()) say("the watch hangs; asking the command to end without it");
    if (first_ != 0) tree->ask_by(first_);
    tree->ask_to_end(grace_, false);
  }
  if (now.silent.ns >= 2 * patience.ns && !any_left()) {
    leave(status_, "the watch hangs, and nothing of the command is left: ending without a record of it");
  }
  return kTick;
}

/// The second request: everything is killed, and nothing waits for the loop. A third ends this process at once.
std::optional<Duration> StopWatchdog::force(const Poll& now, Duration ago) {
  const bool at_once = now.stops > 2;
  if (at_once || ago >= kUntilKill) {
    killed_ = killed_ || any_left();
    for (const auto& tree : trees_) tree->kill();
  }
  const Duration patience = now.ending ? kShortEndingPatience : kUntilExit;
  if (at_once || (ago >= patience && now.silent >= patience)) {
    leave(killed_ ? kKilled : status_, killed_ ? "killed the command; the watch hangs, and ends without a record of it"
                                               : "the watch hangs, and ends without a record of it");
  }
  return kTick;
}

void StopWatchdog::leave(int status, const char* what) {
  say(what);
  if (exit_) return exit_(status);
  _exit(status);
}

}  // namespace mw
