#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/text.h"
#include "platform/program.h"

extern char** environ;  // NOLINT: POSIX has it so

namespace mw {
namespace {

constexpr Duration kPollInterval = Duration::millis(20);  // between two checks whether it has ended
constexpr Duration kLastOutput = Duration::millis(500);   // for what is still in the pipe after its end

Error failed(std::string_view what) { return {Error::Code::kIo, cat(what, ": ", std::strerror(errno)), ""}; }

Duration steady_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return {now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec};
}

/// Both ends of a pipe, closed at the end.
class Pipe {
 public:
  Pipe() { ok_ = pipe2(ends_.data(), O_CLOEXEC) == 0; }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool ok() const { return ok_; }
  int end(size_t which) const { return ends_[which]; }
  void close_end(size_t which) {
    if (ends_[which] >= 0) close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
  bool ok_ = false;
};

/// What the program reads, as a file in memory: one that opens /dev/stdin again, as `sky launch` does with its task,
/// begins from the first byte, where a pipe would be empty by then.
class Input {
 public:
  explicit Input(std::string_view bytes) : file_(memfd_create("input", MFD_CLOEXEC)) {
    ok_ = file_ >= 0;
    while (ok_ && !bytes.empty()) {
      const ssize_t wrote = ::write(file_, bytes.data(), bytes.size());
      if (wrote > 0) bytes.remove_prefix(static_cast<size_t>(wrote));
      ok_ = wrote > 0 || errno == EINTR;
    }
    ok_ = ok_ && ::lseek(file_, 0, SEEK_SET) == 0;
  }
  ~Input() {
    if (file_ >= 0) close(file_);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  bool ok() const { return ok_; }
  int file() const { return file_; }

 private:
  int file_;
  bool ok_ = false;
};

Result<pid_t> start(const ProgramRequest& request, const Input& in, Pipe& out) {
  std::vector<std::string> words = request.command, settings;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view setting(*one);
    const std::string name(setting.substr(0, setting.find('=')));
    if (request.environment.count(name) == 0) settings.emplace_back(setting);
  }
  for (const auto& [name, value] : request.environment) settings.push_back(cat(name, "=", value));
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& setting : settings) envp.push_back(setting.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, in.file(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out.end(1), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, out.end(1), STDERR_FILENO);
  if (!request.folder.empty()) posix_spawn_file_actions_addchdir_np(&files, request.folder.c_str());
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  pid_t child = -1;
  const int problem = posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (problem == 0) return child;
  const bool missing = problem == ENOENT;
  return Error{missing ? Error::Code::kNotFound : Error::Code::kDenied,
               cat("cannot start ", request.command.front(), ": ", std::strerror(problem)), ""};
}

/// A program at work: its output comes out, until it ends or its time is over.
class Work {
 public:
  Work(const ProgramRequest& request, Pipe& out, pid_t child)
      : request_(request), out_(out), child_(child), began_(steady_now()) {
    out_.close_end(1);
    fcntl(out_.end(0), F_SETFL, O_NONBLOCK);
  }

  ProgramEnd finish() {
    while (!ended_ || (out_.end(0) >= 0 && passed(ended_at_) < kLastOutput.ns)) {
      move_bytes();
      if (!ended_) look();
      if (!ended_) press();
    }
    kill(-child_, SIGKILL);  // what it left behind
    if (WIFEXITED(status_)) end_.code = WEXITSTATUS(status_);
    if (WIFSIGNALED(status_)) end_.signal = WTERMSIG(status_);
    return std::move(end_);
  }

 private:
  static int64_t passed(Duration since) { return steady_now().ns - since.ns; }

  void move_bytes() {
    pollfd door = {out_.end(0), POLLIN, 0};
    if (::poll(&door, 1, static_cast<int>(kPollInterval.ns / 1'000'000)) <= 0 || door.revents == 0) return;
    std::array<char, 65536> buffer;
    const ssize_t got = ::read(out_.end(0), buffer.data(), buffer.size());
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) out_.close_end(0);
    if (got <= 0) return;
    const size_t room =
        std::min(static_cast<size_t>(got), request_.output_limit - std::min(request_.output_limit, end_.output.size()));
    end_.output.append(buffer.data(), room);
    end_.dropped += static_cast<uint64_t>(got) - room;
  }

  void look() {
    const pid_t gone = waitpid(child_, &status_, WNOHANG);
    if (gone == 0 || (gone < 0 && errno == EINTR)) return;
    ended_ = true;
    ended_at_ = steady_now();
  }

  void press() {
    const int64_t spent = passed(began_);
    const int due = spent < request_.limit.ns ? 0 : spent < request_.limit.ns + request_.grace.ns ? 1 : 2;
    if (due <= presses_) return;
    presses_ = due;
    end_.late = true;
    kill(-child_, due == 1 ? SIGTERM : SIGKILL);
  }

  const ProgramRequest& request_;
  Pipe& out_;
  pid_t child_;
  Duration began_, ended_at_;
  ProgramEnd end_;
  int status_ = 0, presses_ = 0;
  bool ended_ = false;
};

}  // namespace

Result<ProgramEnd> run_program(const ProgramRequest& request) {
  if (request.command.empty() || request.command.front().empty()) {
    return Error{Error::Code::kInvalid, "no program is named", ""};
  }
  const Input in(request.input);
  if (!in.ok()) return failed("memfd_create");
  Pipe out;
  if (!out.ok()) return failed("pipe");
  const auto child = start(request, in, out);
  if (!child.ok()) return child.error();
  return Work(request, out, *child).finish();
}

}  // namespace mw
