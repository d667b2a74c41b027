#include "keeper/keep.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/text.h"
#include "journal/journal.h"
#include "keeper/capture.h"
#include "keeper/launch.h"
#include "keeper/record.h"
#include "platform/clock.h"
#include "platform/lock.h"
#include "platform/posix_disk.h"

namespace mw {
namespace {

constexpr size_t kPumpBytes = 8U << 20;  // of output per turn, so that a chatty command cannot hide its end
constexpr int kQuietMs = 1000;  // how long to wait for news; then waiting output and adopted commands are looked at
constexpr size_t kReasonBytes = 200;
constexpr size_t kFlood = 64U << 10;  // bytes in one turn: more will come, and is moved cheaper in large pieces
constexpr useconds_t kFloodRestUs = 100;
constexpr size_t kLaunchBytes = 4U << 20;

/// Signals that a keeper neither dies of nor passes on: whoever wants the command to end tells the command.
constexpr int kIgnored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU};

constexpr unsigned kCloseOnExec = 4;    // CLOSE_RANGE_CLOEXEC, since Linux 5.11
constexpr int kOldKernelFiles = 65536;  // looked at one by one where close_range(2) is not there

/// What this process and whoever started it have open is not the next program's business: a lock or a pipe that a
/// trainer holds for days hangs others. Async-signal-safe.
void shut_files_at_exec() {
  if (syscall(SYS_close_range, 3U, ~0U, kCloseOnExec) == 0) return;
  for (int file = 3; file < kOldKernelFiles; ++file) {
    if (fcntl(file, F_GETFD) >= 0) fcntl(file, F_SETFD, FD_CLOEXEC);
  }
}

/// Between fork and exec: async-signal-safe calls only. Writes errno to `problem` when it does not come to exec.
[[noreturn]] void become_command(const Launch& launch, char* const* argv, int pipe, int problem) {
  setsid();
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  for (const int signal : kIgnored) sigaction(signal, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  int failed = 0;
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(pipe, STDOUT_FILENO) < 0 ||
      dup2(pipe, STDERR_FILENO) < 0 || chdir(launch.folder.c_str()) != 0) {
    failed = errno;
  }
  shut_files_at_exec();
  if (failed == 0) {
    execvp(argv[0], argv);
    failed = errno;
  }
  [[maybe_unused]] const ssize_t told = write(problem, &failed, sizeof failed);
  _exit(127);
}

class Keeper {
 public:
  int run();

 private:
  Result<void> prepare();
  Result<void> open_pipe();
  Result<void> launch_command(const Launch& launch);
  void adopt();
  /// Handles what came, or what time brought; false when there is nothing left to keep.
  bool turn();
  void reap();
  void ended(const Ending& ending);
  /// Of the end, for people: midwatch's own, where it ended the command, else how it ended.
  std::string reason(const Ending& ending);
  void note(const std::string& line) {
    record_->append(line);
    if (!record_->sync().ok()) unsynced_ = true;  // a full disk: tried again every turn
  }

  std::unique_ptr<Disk> disk_ = make_posix_disk();
  std::unique_ptr<Clock> clock_ = make_posix_clock();
  std::unique_ptr<Processes> processes_ = make_posix_processes();
  std::unique_ptr<Lock> lock_;
  std::unique_ptr<Journal> record_;
  std::unique_ptr<Capture> capture_;
  Kept kept_;
  int pipe_in_ = -1, pipe_out_ = -1, signals_ = -1;
  int64_t attempt_ = 0;
  bool adopted_ = false, unsynced_ = false;
  uint64_t lost_told_ = 0;
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
  note(record_done(clock_->now()));
  unlink(std::string(kPipeFile).c_str());
  return 0;
}

Result<void> Keeper::prepare() {
  for (const int signal : kIgnored) std::signal(signal, SIG_IGN);
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
  const auto self = processes_->info(getpid());
  if (!self.ok()) return self.error();
  const std::string boot = processes_->boot();
  const bool same_boot = kept_.boot == boot;
  note(record_keeping(self->id, boot, clock_->now()));

  auto file = disk_->open_read(std::string(kLaunchFile));
  if (!file.ok()) return file.error();
  std::string text;
  MW_TRY((*file)->read_at(0, kLaunchBytes, text));
  auto launch = parse_launch(text);
  if (!launch.ok()) return launch.error();
  attempt_ = launch->attempt;
  MW_TRY(open_pipe());
  capture_ = std::make_unique<Capture>(pipe_in_, launch->output, launch->rotate_bytes);
  MW_TRY(capture_->open());
  if (!kept_.child.known()) return launch_command(*launch);
  adopted_ = true;
  if (!same_boot && !kept_.ending) {
    Ending lost;
    lost.known = false;
    lost.at = clock_->now();
    ended(lost);
  }
  return {};
}

Result<void> Keeper::open_pipe() {
  const std::string name(kPipeFile);
  if (mkfifo(name.c_str(), 0600) != 0 && errno != EEXIST) {
    // A file system without named pipes: one without a name does, but breaks when this keeper is killed.
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return Error{Error::Code::kIo, cat("pipe: ", std::strerror(errno)), ""};
    pipe_in_ = ends[0];
    pipe_out_ = ends[1];
    fcntl(pipe_in_, F_SETFL, O_NONBLOCK);
  } else {
    // Opened for both reading and writing it never ends, whoever comes and goes.
    pipe_in_ = open(name.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    pipe_out_ = open(name.c_str(), O_RDWR | O_CLOEXEC);
  }
  if (pipe_in_ < 0 || pipe_out_ < 0) return Error{Error::Code::kIo, cat(name, ": ", std::strerror(errno)), ""};
  fcntl(pipe_in_, F_SETPIPE_SZ, Capture::kPipeBytes);
  return {};
}

Result<void> Keeper::launch_command(const Launch& launch) {
  std::vector<std::string> words = launch.command;
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  for (const auto& [name, value] : launch.environment) setenv(name.c_str(), value.c_str(), 1);
  int problem[2];
  if (pipe2(problem, O_CLOEXEC) != 0) return Error{Error::Code::kIo, cat("pipe: ", std::strerror(errno)), ""};
  const pid_t child = fork();
  if (child == 0) become_command(launch, argv.data(), pipe_out_, problem[1]);
  const int fork_problem = errno;
  close(problem[1]);
  int failed = child < 0 ? fork_problem : 0;
  if (child > 0 && read(problem[0], &failed, sizeof failed) != sizeof failed) failed = 0;  // exec closed it
  close(problem[0]);
  if (failed != 0) {
    if (child > 0) waitpid(child, nullptr, 0);
    return Error{Error::Code::kNotFound,
                 cat("cannot start ", launch.command.front(), " in ", launch.folder, ": ", std::strerror(failed)), ""};
  }
  const auto info = processes_->info(child);  // not reaped yet, so it is there
  kept_.child = info.ok() ? info->id : ProcessId{child, 0};
  const Time now = clock_->now();
  if (launch.attempt > 0) capture_->say(began_line(launch.attempt, now, child));
  note(record_started(kept_.child, now));
  close(pipe_out_);  // the command holds it open
  pipe_out_ = -1;
  return {};
}

void Keeper::reap() {
  signalfd_siginfo told;
  while (read(signals_, &told, sizeof told) == sizeof told) {
  }
  int status = 0;
  rusage used{};
  for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &used)) > 0;) {
    if (pid != kept_.child.pid || kept_.ending) continue;
    Ending end;
    end.at = clock_->now();
    if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) {
      end.signal = WTERMSIG(status);
      end.core = WCOREDUMP(status);
    }
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
  // Its last words are in the file before its end is known; all that can be theirs is what the pipe holds now.
  for (size_t moved = 0, got = 1; got > 0 && moved < Capture::kPipeBytes; moved += got)
    got = capture_->pump(kPumpBytes);
  kept_.ending = end;
  if (attempt_ > 0) capture_->say(ended_line(attempt_, end.at, reason(end)));
  note(record_ended(end));
}

std::string Keeper::reason(const Ending& end) {
  const auto file = disk_->open_read(std::string(kReasonFile));
  std::string text;
  if (end.code == 0 || !file.ok() || !(*file)->read_at(0, kReasonBytes, text).ok()) return outcome_text(end);
  return std::string(trim(text));
}

void Keeper::adopt() {
  if (kept_.ending) return;
  if (lives(*processes_, kept_.child)) return;
  Ending end;
  end.known = false;
  end.at = clock_->now();
  ended(end);
}

bool Keeper::turn() {
  pollfd waiting[] = {{pipe_in_, POLLIN, 0}, {signals_, POLLIN, 0}};
  const bool soon = capture_->waiting() || unsynced_;
  poll(waiting, 2, soon ? kQuietMs / 10 : kQuietMs);
  const size_t moved = capture_->pump(kPumpBytes);
  if (moved >= kFlood) usleep(kFloodRestUs);
  reap();
  if (adopted_) adopt();
  if (unsynced_) unsynced_ = !record_->sync().ok();
  if (capture_->lost() != lost_told_) {
    lost_told_ = capture_->lost();
    note(record_lost(lost_told_, clock_->now()));
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
  if (between == 0) {  // forks again, so that the keeper is nobody's child here
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
    [[maybe_unused]] const ssize_t told = write(problem[1], &failed, sizeof failed);
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
