#include "act/keeper/keep.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "act/keeper/capture.h"
#include "act/keeper/held_back.h"
#include "act/keeper/launch.h"
#include "act/keeper/record.h"
#include "base/text.h"
#include "journal/journal.h"
#include "platform/clock.h"
#include "platform/lock.h"
#include "platform/real/last_state.h"
#include "platform/real/posix_disk.h"

namespace mw {
namespace {

constexpr size_t kPumpBytes = 8U << 20;  // of output per turn, so that the end of a command with much output is noticed
constexpr int kQuietMs = 1000;  // longest wait for an event; then pending output and adopted commands are checked
constexpr size_t kReasonBytes = 200;
constexpr size_t kFlood = 64U << 10;  // bytes in one turn; beyond it the keeper rests: larger pieces cost less
constexpr useconds_t kFloodRestUs = 100;
constexpr size_t kLaunchBytes = 4U << 20;

constexpr useconds_t kRecordAgainUs = 100'000;  // between two tries to write the record to a full disk
constexpr int kRecordTries = 600;               // then the command is not started
constexpr useconds_t kForkCheckUs = 2'000;
constexpr int kForkChecks = 5'000;    // of the process that an earlier keeper forked; then it is killed
constexpr int64_t kTailBytes = 4096;  // of the output, in which its last line is

Ending ending_of(int status, Time at) {
  Ending end;
  end.at = at;
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.core = WCOREDUMP(status);
  }
  return end;
}

class Keeper {
 public:
  int run();

 private:
  Result<void> prepare();
  Result<void> open_pipe();
  Result<void> launch_command(const Launch& launch);
  /// Waits until the process that an earlier keeper forked has executed the command or exited.
  Left settle_fork(bool here);
  Result<void> take_over(const Launch& launch, bool here);
  /// Writes the first line of the output, unless an earlier keeper has written it.
  void say_began(const Launch& launch, Time at);
  void adopt();
  /// Waits for events and handles them; false when there is nothing left to supervise.
  bool turn();
  void wait_for_events();
  void reap();
  void ended(const Ending& ending);
  /// Why the command ended, for people: midwatch's reason where midwatch ended it, else the exit status.
  std::string reason(const Ending& ending);
  void note(const std::string& line) {
    record_->append(line);
    unsynced_ = !record_->sync().ok();  // a full disk: tried again every turn
  }
  /// Of the attempt's end: whoever waits for it learns of it though the disk is full.
  void note_end(const std::string& line) {
    note(line);
    if (unsynced_ && spare_ != nullptr) spare_->put(line);
  }
  /// False when the line could not be written to the disk; then the command must not start.
  bool note_surely(const std::string& line) {
    note(line);
    for (int i = 0; unsynced_ && i < kRecordTries; ++i) {
      usleep(kRecordAgainUs);
      unsynced_ = !record_->sync().ok();
    }
    return !unsynced_;
  }

  std::unique_ptr<Disk> disk_ = make_posix_disk();
  std::unique_ptr<Clock> clock_ = make_posix_clock();
  std::unique_ptr<Processes> processes_ = make_posix_processes();
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<Journal> record_;
  std::unique_ptr<SpareRecord> spare_;
  std::unique_ptr<Capture> capture_;
  Kept kept_;
  int pipe_in_ = -1, pipe_out_ = -1, signals_ = -1;
  int64_t attempt_ = 0;
  std::string nonce_;
  std::unique_ptr<LastState> last_state_;  ///< of a command that is not this keeper's child
  bool unsynced_ = false;
  uint64_t lost_recorded_ = 0;
};

int Keeper::run() {
  if (const auto ready = prepare(); !ready.ok()) {
    if (record_ == nullptr) return 1;
    note(record_failed(ready.error().what, clock_->now()));
    note(record_done(clock_->now()));
    return 1;
  }
  while (turn()) {
  }
  note_end(record_done(clock_->now()));
  if (!unsynced_) spare_->drop();
  unlink(std::string(kPipeFile).c_str());
  unlink(std::string(kHeldBackFile).c_str());
  return 0;
}

Result<void> Keeper::prepare() {
  ignore_signals();
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  signals_ = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);

  auto lock = make_posix_locks()->take("lock");
  if (!lock.ok()) return lock.error();  // another keeper lives: two would start the command twice
  lock_ = std::move(*lock);
  auto before = read_kept(*disk_, ".");
  if (before.ok()) kept_ = *before;
  if (kept_.done || !kept_.failure.empty()) return Error{Error::Code::kInvalid, "this folder's command has ended", ""};
  auto record = Journal::open(*disk_, std::string(kRecordFolder), nullptr);
  if (!record.ok()) return record.error();
  record_ = std::move(*record);
  spare_ = std::make_unique<SpareRecord>(std::string(kSpareFile));
  const auto self = processes_->info(getpid());
  if (!self.ok()) return self.error();
  const std::string boot = processes_->boot();
  const bool here = same_boot(kept_.boot, boot);
  note(record_keeping(self->id, boot, clock_->now()));

  auto file = disk_->open_read(std::string(kLaunchFile));
  if (!file.ok()) return file.error();
  std::string text;
  MW_TRY((*file)->read_at(0, kLaunchBytes, text));
  auto launch = parse_launch(text);
  if (!launch.ok()) return launch.error();
  attempt_ = launch->attempt;
  nonce_ = launch->nonce;
  MW_TRY(open_pipe());
  capture_ = std::make_unique<Capture>(pipe_in_, launch->output, launch->rotate_bytes);
  MW_TRY(capture_->open());
  return settle_fork(here) == Left::kNothing ? launch_command(*launch) : take_over(*launch, here);
}

Left Keeper::settle_fork(bool here) {
  for (int i = 0;; ++i) {
    const bool living = lives(*processes_, kept_.forked);
    const bool went = disk_->info(std::string(kWentFile)).ok();
    const Left found = what_was_left(kept_, living, went, here);
    if (found != Left::kWaits) return found;
    // It exits by itself, as the other end of its pipe is closed, unless it is stopped by a signal.
    if (i == kForkChecks) (void)processes_->signal(kept_.forked, SIGKILL).ok();
    usleep(kForkCheckUs);
  }
}

Result<void> Keeper::take_over(const Launch& launch, bool here) {
  if (!kept_.child.known()) {
    const Time now = clock_->now();
    kept_.child = kept_.forked;
    say_began(launch, now);
    note(record_started(kept_.child, now));
    unlink(std::string(kWentFile).c_str());
  }
  last_state_ = std::make_unique<LastState>(here ? kept_.child : ProcessId());
  if (here || kept_.ending) return {};
  Ending lost;
  lost.known = false;
  lost.at = clock_->now();
  ended(lost);
  return {};
}

void Keeper::say_began(const Launch& launch, Time at) {
  if (launch.attempt <= 0) return;
  const auto file = disk_->open_read(launch.output);
  const auto info = file.ok() ? (*file)->info() : Result<FileInfo>(Error{Error::Code::kNotFound, "", ""});
  std::string text;
  if (info.ok()) {
    const int64_t from = std::max<int64_t>(0, info->size - kTailBytes);
    (void)(*file)->read_at(static_cast<uint64_t>(from), kTailBytes, text).ok();
  }
  // If the earlier keeper wrote that line, it is the last one: it died before it moved any output into the file.
  const std::string_view tail = trim(text);
  if (tail.substr(tail.rfind('\n') + 1).starts_with(began_words(launch.attempt))) return;
  capture_->say(began_line(launch.attempt, at, kept_.child.pid, nonce_));
}

Result<void> Keeper::open_pipe() {
  const std::string name(kPipeFile);
  struct stat there {};
  if (lstat(name.c_str(), &there) == 0 && !S_ISFIFO(there.st_mode)) unlink(name.c_str());  // not midwatch's
  if (mkfifo(name.c_str(), 0600) != 0 && errno != EEXIST) {
    // The file system has no named pipes. An anonymous pipe works, but breaks when this keeper is killed.
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return Error{Error::Code::kIo, cat("pipe: ", std::strerror(errno)), ""};
    pipe_in_ = ends[0];
    pipe_out_ = ends[1];
    fcntl(pipe_in_, F_SETFL, O_NONBLOCK);
  } else {
    // Opened for reading and writing, the pipe has no end of file when a writer closes it.
    pipe_in_ = open(name.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    pipe_out_ = open(name.c_str(), O_RDWR | O_CLOEXEC);
  }
  if (pipe_in_ < 0 || pipe_out_ < 0) return Error{Error::Code::kIo, cat(name, ": ", std::strerror(errno)), ""};
  fcntl(pipe_in_, F_SETPIPE_SZ, Capture::kPipeBytes);
  return {};
}

Result<void> Keeper::launch_command(const Launch& launch) {
  auto pending = HeldBack::fork(launch, pipe_out_);
  if (!pending.ok()) return pending.error();
  const auto info = processes_->info(pending->pid());
  const ProcessId child = info.ok() ? info->id : ProcessId{pending->pid(), 0};
  if (!note_surely(record_forked(child, clock_->now()))) {
    return Error{Error::Code::kFull, "the attempt's record cannot be written", ""};
  }
  if (const auto released = pending->release(); !released.ok()) return released.error();
  kept_.child = child;
  const Time now = clock_->now();
  say_began(launch, now);
  note(record_started(kept_.child, now));
  unlink(std::string(kWentFile).c_str());
  close(pipe_out_);  // the command holds it open
  pipe_out_ = -1;
  return {};
}

void Keeper::reap() {
  signalfd_siginfo signal;
  while (read(signals_, &signal, sizeof signal) == sizeof signal) {
  }
  int status = 0;
  rusage used{};
  for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &used)) > 0;) {
    if (pid != kept_.child.pid || kept_.ending) continue;
    Ending end = ending_of(status, clock_->now());
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    end.user_s = seconds(used.ru_utime);
    end.system_s = seconds(used.ru_stime);
    end.peak_bytes = static_cast<int64_t>(used.ru_maxrss) * 1024;
    ended(end);
  }
}

void Keeper::ended(const Ending& end) {
  // The command's last output is moved into the file before its end is recorded; all of it is in the pipe by now.
  for (size_t moved = 0, got = 1; got > 0 && moved < Capture::kPipeBytes; moved += got)
    got = capture_->pump(kPumpBytes);
  kept_.ending = end;
  if (attempt_ > 0) capture_->say(ended_line(attempt_, end.at, reason(end), nonce_));
  note_end(record_ended(end));
}

std::string Keeper::reason(const Ending& end) {
  const auto file = disk_->open_read(std::string(kReasonFile));
  std::string text;
  if (end.code == 0 || !file.ok() || !(*file)->read_at(0, kReasonBytes, text).ok()) return outcome_text(end);
  for (const std::string_view phrase : {kByBreaker, kByRequest}) {
    if (trim(text) == reason_text(phrase, nonce_)) return std::string(phrase);
  }
  return outcome_text(end);  // not written by midwatch
}

void Keeper::adopt() {
  if (kept_.ending) return;
  if (lives(*processes_, kept_.child)) return;
  const auto status = last_state_->status();
  Ending end = ending_of(status.value_or(0), clock_->now());
  if (!status) end.code = -1;
  end.known = status.has_value();
  ended(end);
}

void Keeper::wait_for_events() {
  const bool watched = last_state_ != nullptr && !kept_.ending && last_state_->file() >= 0;
  pollfd waiting[] = {{pipe_in_, POLLIN, 0}, {signals_, POLLIN, 0}, {watched ? last_state_->file() : -1, POLLIN, 0}};
  const bool soon = capture_->waiting() || unsynced_;
  poll(waiting, 3, soon ? kQuietMs / 10 : kQuietMs);
}

bool Keeper::turn() {
  wait_for_events();
  const size_t moved = capture_->pump(kPumpBytes);
  if (moved >= kFlood) usleep(kFloodRestUs);
  reap();
  if (last_state_ != nullptr) adopt();
  if (unsynced_) unsynced_ = !record_->sync().ok();
  if (capture_->lost() != lost_recorded_) {
    lost_recorded_ = capture_->lost();
    note(record_lost(lost_recorded_, clock_->now()));
  }
  if (!kept_.ending || moved > 0 || capture_->waiting()) return true;
  siginfo_t any{};
  const bool childless = waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
  return !childless;
}

}  // namespace

int keep() { return Keeper().run(); }

Result<void> start_keeper(const std::string& folder, const std::string& program) {
  int problem[2];
  if (pipe2(problem, O_CLOEXEC) != 0) return Error{Error::Code::kIo, cat("pipe: ", std::strerror(errno)), ""};
  const pid_t between = fork();
  if (between == 0) {  // forks again, so that the keeper is no child of this process
    setsid();
    if (const pid_t keeper = fork(); keeper != 0) _exit(keeper < 0 ? 1 : 0);
    const int nothing = open("/dev/null", O_RDWR);
    int failed = 0;
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(nothing, 2) < 0 ||
        chdir(folder.c_str()) != 0) {
      failed = errno;
    }
    shut_files_at_exec();
    if (failed == 0) {
      execl(program.c_str(), "midwatch", kKeepWord, static_cast<char*>(nullptr));
      failed = errno;
    }
    [[maybe_unused]] const ssize_t put = write(problem[1], &failed, sizeof failed);
    _exit(127);
  }
  const int fork_problem = errno;
  close(problem[1]);
  int failed = between < 0 ? fork_problem : 0;
  if (between > 0) {
    if (read(problem[0], &failed, sizeof failed) != sizeof failed) failed = 0;
    int status = 0;
    while (waitpid(between, &status, 0) < 0 && errno == EINTR) {
    }
    if (failed == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) failed = EAGAIN;
  }
  close(problem[0]);
  if (failed != 0)
    return Error{Error::Code::kIo, cat("cannot start a keeper in ", folder, ": ", std::strerror(failed)), ""};
  return {};
}

}  // namespace mw
