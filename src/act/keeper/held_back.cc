#include "act/keeper/held_back.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "act/keeper/start_advice.h"
#include "base/text.h"
#include "platform/process.h"

namespace mw {
namespace {

constexpr int kIgnored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU};
constexpr unsigned kCloseOnExec = 4;    // CLOSE_RANGE_CLOEXEC, since Linux 5.11
constexpr int kOldKernelFiles = 65536;  // closed one by one where close_range(2) is missing
constexpr int kHeldBackNames = 64;      // bytes
constexpr int kNoExec = 127;            // as a shell reports it

/// Closes all files but the standard three and those in `kept`, which is sorted: the waiting process must not hold the
/// keeper's lock.
void close_others(const int (&kept)[3]) {
  unsigned from = 3;
  for (const int one : kept) {
    const auto to = static_cast<unsigned>(one);
    if (to > from && syscall(SYS_close_range, from, to - 1, 0U) != 0) {
      for (unsigned file = from; file < to; ++file) close(static_cast<int>(file));
    }
    from = std::max(from, to + 1);
  }
  if (syscall(SYS_close_range, from, ~0U, 0U) == 0) return;
  for (auto file = static_cast<int>(from); file < kOldKernelFiles; ++file) close(file);
}

struct Ends {
  int gate, problem, pipe;
};

/// In the child, async-signal-safe calls only: waits to be released, then executes the command, whose standard input
/// the file `input` is. Writes errno to
/// `ends.problem` when that fails.
[[noreturn]] void become_command(const char* folder, const char* input, char* const* argv, const Ends& ends) {
  setsid();
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  for (const int signal : kIgnored) sigaction(signal, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int kept[] = {ends.gate, ends.problem, ends.pipe};
  std::sort(std::begin(kept), std::end(kept));
  close_others(kept);
  char word = 0;
  ssize_t got;
  do {
    got = read(ends.gate, &word, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(0);  // its keeper has ended
  const int in = open(input, O_RDONLY), here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char held_back[kHeldBackNames] = {}, went[kHeldBackNames] = {};
  kHeldBackFile.copy(held_back, sizeof held_back - 1);
  kWentFile.copy(went, sizeof went - 1);
  int failed = 0;
  if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(ends.pipe, STDOUT_FILENO) < 0 ||
      dup2(ends.pipe, STDERR_FILENO) < 0 || here < 0 || chdir(folder) != 0 ||
      renameat(here, held_back, here, went) != 0) {
    failed = errno;
  }
  shut_files_at_exec();
  if (failed == 0) {
    execvp(argv[0], argv);
    failed = errno;
    (void)renameat(here, went, here, held_back);
  }
  [[maybe_unused]] const ssize_t put = write(ends.problem, &failed, sizeof failed);
  _exit(kNoExec);
}

/// Adds the marker of this attempt to the one of the attempt in which this midwatch itself was started, if any.
void set_environment(const Launch& launch) {
  for (const auto& [name, value] : launch.environment) setenv(name.c_str(), value.c_str(), 1);
  if (launch.marker.empty()) return;
  const char* outer = std::getenv(kMarkerVariable);
  const std::string markers = outer == nullptr || *outer == 0 ? launch.marker : cat(outer, ":", launch.marker);
  setenv(kMarkerVariable, markers.c_str(), 1);
}

Error failed(std::string_view what) { return {Error::Code::kIo, cat(what, ": ", std::strerror(errno)), ""}; }

}  // namespace

void ignore_signals() {
  for (const int signal : kIgnored) std::signal(signal, SIG_IGN);
}

void shut_files_at_exec() {
  if (syscall(SYS_close_range, 3U, ~0U, kCloseOnExec) == 0) return;
  for (int file = 3; file < kOldKernelFiles; ++file) {
    if (fcntl(file, F_GETFD) >= 0) fcntl(file, F_SETFD, FD_CLOEXEC);
  }
}

Result<HeldBack> HeldBack::fork(const Launch& launch, int pipe) {
  std::vector<std::string> words = launch.command;
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  set_environment(launch);
  const std::string held_back(kHeldBackFile), went(kWentFile);
  unlink(went.c_str());
  const int file = open(held_back.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return failed(held_back);
  close(file);
  int gate[2], problem[2];
  if (pipe2(gate, O_CLOEXEC) != 0) return failed("pipe");
  if (pipe2(problem, O_CLOEXEC) != 0) {
    const Error error = failed("pipe");
    close(gate[0]);
    close(gate[1]);
    return error;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const char* const input = launch.input.empty() ? "/dev/null" : launch.input.c_str();
    become_command(launch.folder.c_str(), input, argv.data(), {gate[0], problem[1], pipe});
  }
  const int fork_problem = errno;
  close(gate[0]);
  close(problem[1]);
  HeldBack one(launch, child, gate[1], problem[0]);
  if (child > 0) return one;
  errno = fork_problem;
  return failed("fork");
}

HeldBack::HeldBack(HeldBack&& other) noexcept
    : launch_(other.launch_),
      pid_(std::exchange(other.pid_, -1)),
      gate_(std::exchange(other.gate_, -1)),
      problem_(std::exchange(other.problem_, -1)) {}

HeldBack::~HeldBack() {
  const bool waits = gate_ >= 0 && pid_ > 0;
  if (gate_ >= 0) close(gate_);
  if (problem_ >= 0) close(problem_);
  if (waits) waitpid(pid_, nullptr, 0);
}

Result<void> HeldBack::release() {
  const char word = 1;
  const bool released = write(gate_, &word, 1) == 1;
  int problem = released ? 0 : errno;
  close(std::exchange(gate_, -1));
  ssize_t got = 0;
  while (released && (got = read(problem_, &problem, sizeof problem)) < 0 && errno == EINTR) {
  }
  if (released && got != sizeof problem) problem = 0;  // exec closed the pipe
  close(std::exchange(problem_, -1));
  if (problem == 0) return {};
  waitpid(pid_, nullptr, 0);
  const auto& words = launch_->command;
  const std::string advice = problem == ENOENT ? start_advice(words.front(), words.size() == 1) : "";
  return Error{Error::Code::kNotFound,
               cat("cannot start ", words.front(), " in ", launch_->folder, ": ", std::strerror(problem), advice), ""};
}

}  // namespace mw
