#include "platform/link_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace mw {
namespace {

constexpr int kDepth = 32;  // folders within folders; a link that leads upwards ends here

Error not_linked(int number, const std::string& path) {
  const bool gone = number == ENOENT || number == ENOTDIR;
  return {gone ? Error::Code::kNotFound : Error::Code::kUnsupported,
          cat("cannot link ", path, ": ", std::strerror(number)), ""};
}

Result<void> link_below(Disk& disk, const std::string& from, const std::string& to, int depth) {
  if (depth > kDepth) return Error{Error::Code::kUnsupported, cat("folders lead in circles at ", from), ""};
  const auto names = disk.list(from);
  if (!names.ok()) return names.error();
  MW_TRY(disk.make_folders(to));
  for (const std::string& name : *names) {
    const std::string path = cat(from, "/", name), link = cat(to, "/", name);
    const auto info = disk.info(path);
    if (!info.ok()) return info.error();
    if (info->kind == FileInfo::Kind::kFolder) {
      MW_TRY(link_below(disk, path, link, depth + 1));
    } else if (::linkat(AT_FDCWD, path.c_str(), AT_FDCWD, link.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return not_linked(errno, path);
    }
  }
  return {};
}

}  // namespace

Result<void> link_tree(Disk& disk, const std::string& from, const std::string& to) {
  return link_below(disk, from, to, 0);
}

}  // namespace mw
