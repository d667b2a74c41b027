#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/open_files.h"
#include "platform/real/from_errno.h"
#include "platform/real/other_mounts.h"

namespace mw {
namespace {

Result<std::string> link_at(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  if (size < 0) return from_errno(path);
  return std::string(target, static_cast<size_t>(size));
}

/// How it was opened, by the line "flags:	0100001" of /proc/PID/fdinfo/N, in octal (proc(5)).
uint64_t flags_of(int64_t pid, int number) {
  std::FILE* file = std::fopen(cat("/proc/", pid, "/fdinfo/", number).c_str(), "re");
  if (file == nullptr) return O_RDONLY;
  uint64_t flags = O_RDONLY;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "flags:", 6) != 0) continue;
    flags = std::strtoul(line + 6, nullptr, 8);
    break;
  }
  std::fclose(file);
  return flags;
}

/// What its inode says.
void describe(const std::string& place, OpenFile& file) {
  struct statx info {};
  if (statx(AT_FDCWD, place.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &info) != 0) return;
  file.regular = S_ISREG(info.stx_mode) && info.stx_nlink > 0;
  file.size = static_cast<int64_t>(info.stx_size);
  if ((info.stx_mask & STATX_BTIME) != 0) {
    file.born = Time{info.stx_btime.tv_sec * 1'000'000'000 + info.stx_btime.tv_nsec};
  }
}

}  // namespace

Result<std::vector<OpenFile>> open_files(int64_t pid) {
  const std::string folder = cat("/proc/", pid, "/fd");
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return from_errno(folder);
  std::vector<OpenFile> found;
  OtherMounts mounts(pid);
  while (const dirent* entry = readdir(entries)) {
    const auto number = parse_int(entry->d_name);
    if (!number) continue;
    const std::string place = cat(folder, "/", *number);
    auto target = link_at(place);
    if (!target.ok()) continue;  // closed meanwhile
    OpenFile file;
    file.number = static_cast<int>(*number);
    file.target = std::move(*target);
    describe(place, file);
    const uint64_t flags = flags_of(pid, file.number);
    file.writes = (flags & O_ACCMODE) != O_RDONLY;
    file.appends = file.writes && (flags & O_APPEND) != 0;
    if (file.regular && file.writes) {
      std::string reached = mounts.reached(place, file.target);
      if (!reached.empty())
        file.target = std::move(reached);
      else
        file.regular = false;
    }
    found.push_back(std::move(file));
  }
  closedir(entries);
  std::sort(found.begin(), found.end(), [](const OpenFile& a, const OpenFile& b) { return a.number < b.number; });
  return found;
}

Result<std::string> working_folder_of(int64_t pid) {
  const std::string place = cat("/proc/", pid, "/cwd");
  auto target = link_at(place);
  if (!target.ok()) return target;
  std::string reached = OtherMounts(pid).reached(place, *target);
  return reached.empty() ? place : reached;
}

}  // namespace mw
