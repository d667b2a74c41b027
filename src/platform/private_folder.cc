#include "platform/private_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

namespace mw {
namespace {

constexpr int kDepthLimit = 12;  // folders within folders; a run's own are four deep
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

/// Takes the permissions from what `file` has open; false where it is somebody else's.
bool tighten(int file, struct stat& status) {
  if (::fstat(file, &status) != 0 || status.st_uid != ::geteuid()) return false;
  if ((status.st_mode & kOthers) != 0) (void)::fchmod(file, status.st_mode & S_IRWXU);
  return true;
}

/// Takes `folder`, which it closes.
void tighten_below(int folder, int depth) {
  DIR* stream = depth > kDepthLimit ? nullptr : ::fdopendir(folder);
  if (stream == nullptr) {
    ::close(folder);
    return;
  }
  while (const dirent* entry = ::readdir(stream)) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
    const std::string_view name = entry->d_name;
    struct stat status {};
    if (name == "." || name == ".." || ::fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(status.st_mode)) {
      const int inner = ::openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (inner < 0) continue;
      if (tighten(inner, status)) {
        tighten_below(inner, depth + 1);
      } else {
        ::close(inner);
      }
    } else if (!S_ISLNK(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & kOthers) != 0) {
      // A pipe or a socket cannot be opened without its other end hearing of it. A link put in its place meanwhile
      // could only be by this user: the folder is private by now.
      (void)::fchmodat(folder, entry->d_name, status.st_mode & S_IRWXU, 0);
    }
  }
  ::closedir(stream);
}

}  // namespace

void make_private(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (tighten(file, status)) {
    tighten_below(file, 0);
  } else {
    ::close(file);
  }
}

bool is_private(const std::string& folder) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && (status.st_mode & kOthers) == 0;
}

}  // namespace mw
