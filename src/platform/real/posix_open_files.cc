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

namespace mw {
namespace {

Result<std::string> link_at(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  if (size < 0) return from_errno(path);
  return std::string(target, static_cast<size_t>(size));
}

/// By the line "flags:	0100001" of /proc/PID/fdinfo/N, in octal (proc(5)).
bool was_opened_to_write(int64_t pid, int number) {
  std::FILE* file = std::fopen(cat("/proc/", pid, "/fdinfo/", number).c_str(), "re");
  if (file == nullptr) return false;
  bool writes = false;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "flags:", 6) != 0) continue;
    writes = (std::strtoul(line + 6, nullptr, 8) & O_ACCMODE) != O_RDONLY;
    break;
  }
  std::fclose(file);
  return writes;
}

}  // namespace

Result<std::vector<OpenFile>> open_files(int64_t pid) {
  const std::string folder = cat("/proc/", pid, "/fd");
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return from_errno(folder);
  std::vector<OpenFile> found;
  while (const dirent* entry = readdir(entries)) {
    const auto number = parse_int(entry->d_name);
    if (!number) continue;
    const std::string place = cat(folder, "/", *number);
    auto target = link_at(place);
    if (!target.ok()) continue;  // closed meanwhile
    OpenFile file{static_cast<int>(*number), std::move(*target), false, false};
    struct stat info {};
    file.regular = stat(place.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink > 0;
    file.writes = was_opened_to_write(pid, file.number);
    found.push_back(std::move(file));
  }
  closedir(entries);
  std::sort(found.begin(), found.end(), [](const OpenFile& a, const OpenFile& b) { return a.number < b.number; });
  return found;
}

Result<std::string> working_folder_of(int64_t pid) { return link_at(cat("/proc/", pid, "/cwd")); }

}  // namespace mw
