#include "sense/checkpoints/open_files.h"

#include <algorithm>
#include <array>

#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/ownership.h"

namespace mw {
namespace {

constexpr size_t kFilesOpen = 4096;  // of one process

/// Is a file open to write, by its /proc/PID/fdinfo ("flags:\t0100001", octal; the last two bits are the way)?
bool is_to_write(std::string_view fdinfo) {
  const size_t at = fdinfo.find("flags:");
  if (at == std::string_view::npos) return false;
  const std::string_view flags = trim(fdinfo.substr(at + 6, fdinfo.find('\n', at) - at - 6));
  return !flags.empty() && ((flags.back() - '0') & 3) != 0;
}

}  // namespace

void for_each_open(System& system, const std::string& pid,
                   const std::function<void(const std::string& path, const std::function<bool()>& to_write)>& visit,
                   bool streams) {
  const auto files = system.names(cat("/proc/", pid, "/fd"));
  for (size_t i = 0; files.ok() && i < std::min(files->size(), kFilesOpen); ++i) {
    const std::string& file = (*files)[i];
    if (!streams && file.size() == 1 && file[0] <= '2') continue;
    const auto path = system.link(cat("/proc/", pid, "/fd/", file));
    if (!path.ok()) continue;
    visit(*path, [&] {
      const auto how = system.read(cat("/proc/", pid, "/fdinfo/", (*files)[i]), System::kFileBytes);
      return how.ok() && is_to_write(*how);
    });
  }
}

std::string writer_of(System& system, const std::string& place) {
  constexpr std::array<std::string_view, 6> kLogs = {"log", "txt", "jsonl", "csv", "out", "err"};
  const auto real = system.real(place);
  const auto pids = real.ok() ? system.names("/proc") : Result<std::vector<std::string>>(real.error());
  std::string found;
  for (const std::string& pid : pids.ok() ? *pids : std::vector<std::string>()) {
    if (pid.empty() || pid[0] < '0' || pid[0] > '9') continue;
    const auto take = [&](const std::string& path, const auto& to_write) {
      const std::string_view name = basename(path);
      if (!found.empty() || !lies_in(path, *real) || is_one_of(ending_of(name), kLogs) ||
          contains(name, "events.out") || !to_write())
        return;
      const auto comm = system.read(cat("/proc/", pid, "/comm"), System::kFileBytes);
      const std::string_view below =
          path.size() > real->size() ? std::string_view(path).substr(real->size() + 1) : name;
      found = cat("process ", pid, comm.ok() ? cat(" (", clip(sanitize_utf8(trim(*comm)), 40), ")") : "", " has ",
                  clip(sanitize_utf8(below), 200), " open to write");
    };
    for_each_open(system, pid, take, true);  // `tar -c … > copy` may be at it
    if (!found.empty()) break;
  }
  return found;
}

}  // namespace mw
