#include "sense/checkpoints/open_files.h"

#include <algorithm>

#include "base/text.h"

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
                   const std::function<void(const std::string& path, const std::function<bool()>& to_write)>& visit) {
  const auto files = system.names(cat("/proc/", pid, "/fd"));
  for (size_t i = 0; files.ok() && i < std::min(files->size(), kFilesOpen); ++i) {
    const auto path = system.link(cat("/proc/", pid, "/fd/", (*files)[i]));
    if (!path.ok()) continue;
    visit(*path, [&] {
      const auto how = system.read(cat("/proc/", pid, "/fdinfo/", (*files)[i]), System::kFileBytes);
      return how.ok() && is_to_write(*how);
    });
  }
}

}  // namespace mw
