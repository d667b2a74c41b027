#include "platform/real/last_state.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

/// PIDFD_GET_INFO of linux/pidfd.h, which the headers of most systems do not have yet.
struct PidfdInfo {
  uint64_t mask, cgroup;
  uint32_t pid, tgid, ppid, users[8];
  int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kInfoExit = 8;
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

constexpr size_t kStatusField = 52, kFirstBehindName = 3;  // of /proc/PID/stat

std::optional<int> status_in_proc(const ProcessId& id) {
  char buffer[4096];
  const std::string folder = cat("/proc/", id.pid);
  // Without permission the field reads 0. This link needs the same permission, so reading it is the test.
  if (readlink(cat(folder, "/ns/pid").c_str(), buffer, sizeof buffer) <= 0) return std::nullopt;
  const int file = open(cat(folder, "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  const ssize_t got = read(file, buffer, sizeof buffer);
  close(file);
  if (got <= 0) return std::nullopt;
  const std::string_view text(buffer, static_cast<size_t>(got));
  const auto info = parse_process_stat(text);
  if (!info.ok() || info->id != id || info->state != 'Z') return std::nullopt;
  std::string_view rest = trim(text.substr(text.rfind(") ") + 2));
  for (size_t field = kFirstBehindName; field < kStatusField; ++field) {
    const size_t end = rest.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(end + 1);
  }
  const auto status = parse_int(rest.substr(0, rest.find(' ')));
  return status ? std::optional<int>(static_cast<int>(*status)) : std::nullopt;
}

}  // namespace

LastState::LastState(const ProcessId& id) : id_(id) {
  file_ = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(id.pid), 0U));
  if (file_ < 0) return;
  const auto info = make_posix_processes()->info(id.pid);
  if (info.ok() && info->id == id) return;
  close(file_);  // another process has this pid by now
  file_ = -1;
}

LastState::~LastState() {
  if (file_ >= 0) close(file_);
}

std::optional<int> LastState::status() const {
  if (auto known = status_in_proc(id_)) return known;
  PidfdInfo info{};
  info.mask = kInfoExit;
  if (file_ < 0 || ioctl(file_, kGetInfo, &info) != 0 || (info.mask & kInfoExit) == 0) return std::nullopt;
  return info.exit_code;
}

}  // namespace mw
