#include "platform/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
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

Error another(const std::string& name) {
  return {Error::Code::kInvalid, cat(name, " is not what it was when it was looked at"), ""};
}

bool is_meant(const struct stat& status, const Identity& only) {
  if (only.inode == 0) return true;
  if (status.st_dev != only.device || status.st_ino != only.inode) return false;
  const int64_t changed = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  return only.changed_ns == 0 || changed == only.changed_ns;
}

/// A lease on the very file that is meant, as long as it lives: who opens it meanwhile waits until it is let go of.
class Lease {
 public:
  Lease(int at, const std::string& name, const Identity& only)
      : file_(::openat(at, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status {};
    // When somebody opens it, the kernel sends a signal. The default, SIGIO, would end this process.
    held_ = file_.get() >= 0 && ::fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
            is_meant(status, only) && ::fcntl(file_.get(), F_SETSIG, SIGURG) == 0 &&
            ::fcntl(file_.get(), F_SETLEASE, F_WRLCK) == 0;
  }
  bool held() const { return held_; }

 private:
  Folder file_;
  bool held_ = false;
};

Result<void> remove_at(int at, const std::string& name, dev_t device, int depth, const Identity* only,
                       Removed& removed) {
  struct stat status {};
  if (::fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT && depth > 0 ? Result<void>() : trouble(errno, "cannot look at", name);
  }
  if (status.st_dev != device) return Error{Error::Code::kInvalid, cat(name, " is on another file system"), ""};
  const bool folder = S_ISDIR(status.st_mode);
  if (only != nullptr && (!is_meant(status, *only) || (only->unheld && folder))) return another(name);
  std::unique_ptr<Lease> lease;
  if (only != nullptr && only->unheld) {
    lease = std::make_unique<Lease>(at, name, *only);
    if (!lease->held()) return Error{Error::Code::kInvalid, cat("somebody holds ", name), ""};
    // The name may have gone to another file since; between this check and the removal lie microseconds, and the names
    // that programs give to shared memory are theirs alone: a random part, or the process's number.
    if (::fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_meant(status, *only))
      return another(name);
  }
  if (folder) {
    if (depth >= kDepth) return Error{Error::Code::kLimit, cat(name, " lies too deep"), ""};
    auto inside = enter(at, name);
    if (!inside.ok()) return inside.error();
    // What is removed below is what is in this very folder, whatever has its name meanwhile; and the name itself goes
    // only where an empty folder has it.
    if (only != nullptr && (::fstat(inside->get(), &status) != 0 || !is_meant(status, *only))) return another(name);
    const auto names = list(inside->get());
    if (!names.ok()) return names.error();
    for (const std::string& one : *names) MW_TRY(remove_at(inside->get(), one, device, depth + 1, nullptr, removed));
  }
  if (::unlinkat(at, name.c_str(), folder ? AT_REMOVEDIR : 0) != 0 && errno != ENOENT) {
    return trouble(errno, "cannot remove", name);
  }
  ++removed.entries;
  if (folder || status.st_nlink == 1) removed.bytes += status.st_blocks * kBlockBytes;
  return {};
}

/// The folder of an absolute path, without a link on the way.
Result<Folder> enter_root(const std::string& root) {
  const std::vector<std::string> above = names_of(root);
  if (root.empty() || root.front() != '/' || above.empty()) {
    return Error{Error::Code::kInvalid, cat("'", root, "' is no folder in which things are removed"), ""};
  }
  auto folder = enter(AT_FDCWD, "/");
  for (size_t i = 0; folder.ok() && i < above.size(); ++i) {
    auto next = enter(folder->get(), above[i]);
    if (!next.ok()) return next.error();
    *folder = std::move(*next);
  }
  return folder;
}

}  // namespace

Result<Removed> remove_tree(const std::string& root, const std::string& below, const Identity* only) {
  std::vector<std::string> way = names_of(below);
  if (below.empty() || below.front() == '/' || way.empty()) {
    return Error{Error::Code::kInvalid, cat("'", below, "' is no name below ", root), ""};
  }
  auto folder = enter_root(root);
  if (!folder.ok()) return folder.error();
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
  MW_TRY(remove_at(folder->get(), name, status.st_dev, 0, only, removed));
  return removed;
}

bool nobody_holds(const std::string& root, const std::string& name, const Identity& only) {
  const auto folder = enter_root(root);
  return folder.ok() && names_of(name).size() == 1 && Lease(folder->get(), name, only).held();
}

}  // namespace mw
