#include "platform/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mw {
namespace {

constexpr int kDepth = 64;            // folders in folders
constexpr int64_t kBlockBytes = 512;  // st_blocks counts these (stat(2))

Error trouble(int number, std::string_view what, std::string_view name) {
  const Error::Code code = number == ENOENT                       ? Error::Code::kNotFound
                           : number == EACCES || number == EPERM  ? Error::Code::kDenied
                           : number == ELOOP || number == ENOTDIR ? Error::Code::kInvalid
                                                                  : Error::Code::kIo;
  return {code, cat(what, " ", name, ": ", number == ELOOP ? "it is a link" : std::strerror(number)), ""};
}

class Folder {
 public:
  explicit Folder(int number = -1) : number_(number) {}
  Folder(Folder&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Folder& operator=(Folder&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Folder() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

Result<Folder> enter(int at, const std::string& name) {
  const int number = ::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (number < 0) return trouble(errno, "cannot open", name);
  return Folder(number);
}

/// The names of a path; empty when there is one among them that leads elsewhere.
std::vector<std::string> names_of(std::string_view path) {
  std::vector<std::string> names;
  for (const std::string_view name : split(path, '/')) {
    if (name.empty()) continue;
    if (name == "." || name == ".." || name.find('\0') != std::string_view::npos) return {};
    names.emplace_back(name);
  }
  return names;
}

Result<std::vector<std::string>> list(int folder) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = copy < 0 ? nullptr : ::fdopendir(copy);
  if (stream == nullptr) {
    const int number = errno;
    if (copy >= 0) ::close(copy);
    return trouble(number, "cannot list", "a folder");
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream)) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

Result<void> remove_at(int at, const std::string& name, dev_t device, int depth, Removed& removed) {
  struct stat status {};
  if (::fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT && depth > 0 ? Result<void>() : trouble(errno, "cannot look at", name);
  }
  if (status.st_dev != device) return Error{Error::Code::kInvalid, cat(name, " is on another file system"), ""};
  const bool folder = S_ISDIR(status.st_mode);
  if (folder) {
    if (depth >= kDepth) return Error{Error::Code::kLimit, cat(name, " lies too deep"), ""};
    auto inside = enter(at, name);
    if (!inside.ok()) return inside.error();
    const auto names = list(inside->get());
    if (!names.ok()) return names.error();
    for (const std::string& one : *names) MW_TRY(remove_at(inside->get(), one, device, depth + 1, removed));
  }
  if (::unlinkat(at, name.c_str(), folder ? AT_REMOVEDIR : 0) != 0 && errno != ENOENT) {
    return trouble(errno, "cannot remove", name);
  }
  ++removed.entries;
  if (folder || status.st_nlink == 1) removed.bytes += status.st_blocks * kBlockBytes;
  return {};
}

}  // namespace

Result<Removed> remove_tree(const std::string& root, const std::string& below) {
  const std::vector<std::string> above = names_of(root);
  std::vector<std::string> way = names_of(below);
  if (root.empty() || root.front() != '/' || above.empty()) {
    return Error{Error::Code::kInvalid, cat("'", root, "' is no folder in which things are removed"), ""};
  }
  if (below.empty() || below.front() == '/' || way.empty()) {
    return Error{Error::Code::kInvalid, cat("'", below, "' is no name below ", root), ""};
  }
  auto folder = enter(AT_FDCWD, "/");
  if (!folder.ok()) return folder.error();
  for (const std::string& name : above) {
    auto next = enter(folder->get(), name);
    if (!next.ok()) return next.error();
    *folder = std::move(*next);
  }
  struct stat status {};
  if (::fstat(folder->get(), &status) != 0) return trouble(errno, "cannot look at", root);
  const std::string name = way.back();
  way.pop_back();
  for (const std::string& one : way) {
    auto next = enter(folder->get(), one);
    if (!next.ok()) return next.error();
    *folder = std::move(*next);
  }
  Removed removed;
  MW_TRY(remove_at(folder->get(), name, status.st_dev, 0, removed));
  return removed;
}

}  // namespace mw
