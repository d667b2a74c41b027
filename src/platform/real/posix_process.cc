#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/process.h"
#include "platform/real/from_errno.h"

namespace mw {
namespace {

constexpr size_t kStatBytes = 4096;             // a /proc/PID/stat has some 300
constexpr size_t kEnvironmentBytes = 2U << 20;  // what the kernel lets a program start with

Result<std::string> read_small(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return from_errno(path);
  std::string out(kStatBytes, '\0');
  ssize_t got;
  do {
    got = read(file, out.data(), out.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) {  // ESRCH: it ended between open and read
    Error error = from_errno(path);
    close(file);
    return error;
  }
  close(file);
  out.resize(static_cast<size_t>(got));
  return out;
}

/// All of one of the kernel's files on a process; unset when it cannot be read.
std::optional<std::string> read_all(int64_t pid, std::string_view name) {
  const std::string path = cat("/proc/", pid, "/", name);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  char piece[16384];
  ssize_t got = 0;
  while (text.size() < kEnvironmentBytes && (got = read(file, piece, sizeof piece)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    text.append(piece, static_cast<size_t>(got));
  }
  close(file);
  return got < 0 ? std::nullopt : std::optional(std::move(text));
}

class PosixProcesses final : public Processes {
 public:
  Result<ProcessInfo> info(int64_t pid) override {
    auto text = read_small(cat("/proc/", pid, "/stat"));
    if (!text.ok()) return text.error();
    return parse_process_stat(*text);
  }

  std::vector<ProcessInfo> all() override {
    std::vector<ProcessInfo> found;
    DIR* folder = opendir("/proc");
    if (folder == nullptr) return found;
    while (const dirent* entry = readdir(folder)) {
      const auto pid = parse_int(entry->d_name);
      if (!pid || *pid <= 0) continue;
      if (auto one = info(*pid); one.ok()) found.push_back(std::move(*one));
    }
    closedir(folder);
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.id.pid < b.id.pid; });
    return found;
  }

  bool carries(const ProcessInfo& process, std::string_view marker) override {
    const auto environment = read_all(process.id.pid, "environ");
    if (!environment || !environment_carries(*environment, marker)) return false;
    const auto now = info(process.id.pid);  // what was read is this one's, and not of who got its number meanwhile
    return now.ok() && now->id == process.id;
  }

  bool carries_further(const ProcessInfo& process, std::string_view marker) override {
    const auto environment = read_all(process.id.pid, "environ");
    if (!environment || !environment_carries_further(*environment, marker)) return false;
    const auto now = info(process.id.pid);
    return now.ok() && now->id == process.id;
  }

  bool between_programs(const ProcessInfo& process) override {
    constexpr int64_t kKernel = 2;  // the parent of its threads, which have neither
    if (process.parent == kKernel || process.state == 'Z' || process.state == 'X') return false;
    const auto words = read_all(process.id.pid, "cmdline"), environment = read_all(process.id.pid, "environ");
    return words && words->empty() && environment && environment->empty();
  }

  Result<void> signal(const ProcessId& id, int signal) override {
    if (id.pid == getpid()) return Error{Error::Code::kDenied, "a process does not signal itself", ""};
    // The descriptor holds the process that has the number now; if that is ours, the signal cannot go astray.
    const int held = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(id.pid), 0U));
    const int problem = errno;
    Result<ProcessInfo> now = info(id.pid);
    Result<void> done;
    if (!now.ok() || now->id != id) {
      done = Error{Error::Code::kNotFound, cat("process ", id.pid, " has ended"), ""};
    } else if (held >= 0) {
      if (syscall(SYS_pidfd_send_signal, held, signal, nullptr, 0U) != 0) done = from_errno(cat("process ", id.pid));
    } else if (problem == ENOSYS || problem == EPERM) {  // a kernel before 5.3, or a sandbox without the call
      if (kill(static_cast<pid_t>(id.pid), signal) != 0) done = from_errno(cat("process ", id.pid));
    } else {
      errno = problem;
      done = from_errno(cat("process ", id.pid));
    }
    if (held >= 0) close(held);
    return done;
  }

  /// It does not change while this process lives.
  std::string boot() override {
    if (!boot_.empty()) return boot_;
    auto text = read_small("/proc/sys/kernel/random/boot_id");
    if (!text.ok()) return "";
    // The number of a PID namespace is given again when it is free; with the start of its first process it is not.
    struct stat numbering {};
    const bool known = stat("/proc/self/ns/pid", &numbering) == 0;
    const auto first = info(1);
    std::string boot = cat(trim(*text), "/", known ? cat(static_cast<int64_t>(numbering.st_ino)) : "?", "/",
                           first.ok() ? cat(static_cast<int64_t>(first->id.start)) : "?");
    if (known && first.ok()) boot_ = boot;
    return boot;
  }

 private:
  std::string boot_;
};

}  // namespace

std::unique_ptr<Processes> make_posix_processes() { return std::make_unique<PosixProcesses>(); }

}  // namespace mw
