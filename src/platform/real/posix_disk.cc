#include "platform/real/posix_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "platform/file_holes.h"
#include "platform/private_folder.h"
#include "platform/real/mapped_view.h"

namespace mw {
namespace {

/// Bytes that one read() or write() asks for at most (Linux itself stops at 2^31 - 4096).
constexpr size_t kCallBytes = 64U << 20;
constexpr size_t kLargeRead = 128U << 10;

Error error_of(int number, std::string_view what, const std::string& path) {
  Error error;
  error.what = cat(what, " ", path, ": ", std::strerror(number));
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:  // a link that leads to itself leads nowhere
      error.code = Error::Code::kNotFound;
      error.hint = "check the path";
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      error.code = Error::Code::kDenied;
      error.hint = "check the permissions of the file and of the folders above it";
      break;
    case ENOSPC:
    case EDQUOT:
      error.code = Error::Code::kFull;
      error.hint = "free some space on the file system that holds it";
      break;
    case EMFILE:
    case ENFILE:
      error.code = Error::Code::kLimit;
      error.hint = "raise the limit of open files (ulimit -n)";
      break;
    case EXDEV:
      error.code = Error::Code::kUnsupported;
      break;
    case EISDIR:
    case ENAMETOOLONG:
    case EINVAL:
      error.code = Error::Code::kInvalid;
      break;
    default:
      error.code = Error::Code::kIo;
  }
  return error;
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

int open_again(const std::string& path, int flags, mode_t mode = 0644) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  return number;
}

FileInfo info_of(const struct stat& status) {
  FileInfo info;
  if (S_ISREG(status.st_mode)) {
    info.kind = FileInfo::Kind::kFile;
  } else if (S_ISDIR(status.st_mode)) {
    info.kind = FileInfo::Kind::kFolder;
  } else if (S_ISLNK(status.st_mode)) {
    info.kind = FileInfo::Kind::kLink;
  }
  info.size = status.st_size;
  info.device = status.st_dev;
  info.inode = status.st_ino;
  info.changed = {static_cast<int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec};
  return info;
}

class PosixReadFile final : public ReadFile, public MappableFile, public SparseFile {
 public:
  PosixReadFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<void> read_at(uint64_t offset, size_t size, std::string& out) override {
    if (out.size() != size) out.resize(size);  // a buffer used again is not filled with zeros again
    // Who reads so much reads all of it, in order: the system then reads ahead twice as far. Not at random places.
    if (size >= kLargeRead && !in_order_.exchange(true))
      (void)::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    size_t done = 0;
    while (done < size) {
      const ssize_t got =
          ::pread(file_.get(), out.data() + done, std::min(size - done, kCallBytes), static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        const int number = errno;
        out.resize(done);
        return error_of(number, "cannot read", path_);
      }
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    out.resize(done);
    return {};
  }

  Result<FileInfo> info() override {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) return error_of(errno, "cannot look at", path_);
    return info_of(status);
  }

  std::unique_ptr<FileView> view(uint64_t offset, size_t size) override { return map_view(file_.get(), offset, size); }

  std::vector<FileHole> holes(uint64_t from, uint64_t to, size_t most) override {
    std::vector<FileHole> out;
    while (from < to && out.size() < most) {
      const off_t hole = ::lseek(file_.get(), static_cast<off_t>(from), SEEK_HOLE);  // its own end is one
      if (hole < 0 || static_cast<uint64_t>(hole) >= to) break;
      const off_t data = ::lseek(file_.get(), hole, SEEK_DATA);
      if (data < 0 && errno != ENXIO) break;  // ENXIO: nothing comes behind it
      const uint64_t end = data < 0 ? to : std::min(to, static_cast<uint64_t>(data));
      out.push_back({static_cast<uint64_t>(hole), end});
      from = end;
    }
    return out;
  }

 private:
  Descriptor file_;
  std::string path_;
  std::atomic<bool> in_order_{false};  // several threads read one file
};

class PosixAppendFile final : public AppendFile {
 public:
  PosixAppendFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<void> append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = ::write(file_.get(), bytes.data(), std::min(bytes.size(), kCallBytes));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return error_of(errno, "cannot write to", path_);
      bytes.remove_prefix(static_cast<size_t>(put));
    }
    return {};
  }

  Result<void> sync() override {
    if (::fdatasync(file_.get()) != 0) return error_of(errno, "cannot sync", path_);
    return {};
  }

  Result<void> truncate(uint64_t size) override {
    int status = -1;
    do {
      status = ::ftruncate(file_.get(), static_cast<off_t>(size));
    } while (status != 0 && errno == EINTR);
    if (status != 0) return error_of(errno, "cannot cut", path_);
    return {};
  }

  void keep_private() override { (void)::fchmod(file_.get(), S_IRUSR | S_IWUSR); }

 private:
  Descriptor file_;
  std::string path_;
};

/// Makes changes of names in `folder` durable. Some file systems cannot sync a folder; they say EINVAL.
Result<void> sync_folder(const std::string& folder) {
  const Descriptor file(open_again(folder, O_RDONLY | O_DIRECTORY));
  if (file.get() < 0) return error_of(errno, "cannot open", folder);
  if (::fsync(file.get()) != 0 && errno != EINVAL) return error_of(errno, "cannot sync", folder);
  return {};
}

class PosixDisk final : public Disk {
 public:
  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override {
    // O_NONBLOCK: opening a pipe must not wait for its writer. It changes nothing for regular files.
    Descriptor file(open_again(path, O_RDONLY | O_NONBLOCK));
    if (file.get() < 0) return error_of(errno, "cannot open", path);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return error_of(errno, "cannot look at", path);
    if (S_ISDIR(status.st_mode)) return error_of(EISDIR, "cannot open", path);
    return std::unique_ptr<ReadFile>(std::make_unique<PosixReadFile>(std::move(file), path));
  }

  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override {
    bool created = false;
    int number = open_again(path, O_WRONLY | O_APPEND);
    if (number < 0 && errno == ENOENT) {
      // What lies in a private folder is private, whatever becomes of the folder.
      const bool privately = is_private(folder_of(path));
      number = open_again(path, O_WRONLY | O_APPEND | O_CREAT, privately ? 0600 : 0644);
      created = number >= 0;
      if (created && privately) (void)::fchmod(number, S_IRUSR | S_IWUSR);
    }
    if (number < 0) return error_of(errno, "cannot open for writing", path);
    Descriptor file(number);
    if (created) MW_TRY(sync_folder(folder_of(path)));
    return std::unique_ptr<AppendFile>(std::make_unique<PosixAppendFile>(std::move(file), path));
  }

  Result<FileInfo> info(const std::string& path) override {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return error_of(errno, "cannot look at", path);
    return info_of(status);
  }

  Result<std::vector<std::string>> list(const std::string& folder) override {
    DIR* stream = ::opendir(folder.c_str());
    if (stream == nullptr) return error_of(errno, "cannot list", folder);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int number = errno;
    ::closedir(stream);
    if (number != 0) return error_of(number, "cannot list", folder);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<void> make_folders(const std::string& path) override {
    for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
      const std::string part = path.substr(0, slash);
      const bool there = part.empty() || ::access(part.c_str(), F_OK) == 0;
      const bool privately = !there && is_private(folder_of(part));
      if (!there && ::mkdir(part.c_str(), privately ? 0700 : 0755) == 0) {
        if (privately) (void)::chmod(part.c_str(), S_IRWXU);  // whatever the umask says
      } else if (!there && errno != EEXIST) {
        const int number = errno;
        struct stat status {};  // a read-only folder above may refuse with another error than EEXIST
        if (::stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
          return error_of(number, "cannot make the folder", part);
        }
      }
      if (slash == std::string::npos) break;
    }
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return error_of(errno, "cannot make the folder", path);
    if (!S_ISDIR(status.st_mode)) return error_of(EEXIST, "cannot make the folder", path);
    return {};
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return error_of(errno, "cannot rename", from);
    MW_TRY(sync_folder(folder_of(to)));
    if (folder_of(from) != folder_of(to)) MW_TRY(sync_folder(folder_of(from)));
    return {};
  }

  Result<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return error_of(errno, "cannot remove", path);
    return {};
  }

  Result<std::string> read_link(const std::string& path) override {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
    if (size < 0) return error_of(errno, "cannot read the link", path);
    return std::string(text.data(), static_cast<size_t>(size));
  }

  Result<void> make_link(const std::string& text, const std::string& path) override {
    if (::symlink(text.c_str(), path.c_str()) != 0) return error_of(errno, "cannot make the link", path);
    return {};
  }
};

}  // namespace

std::unique_ptr<Disk> make_posix_disk() { return std::make_unique<PosixDisk>(); }

std::string absolute_path(const std::string& path) {
  if (!path.empty() && path.front() == '/') return path;
  std::array<char, PATH_MAX> here{};
  if (getcwd(here.data(), here.size()) == nullptr) return path.empty() ? "." : path;
  return path.empty() ? here.data() : cat(here.data(), "/", path);
}

}  // namespace mw
