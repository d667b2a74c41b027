// The door to files. Posix behind it in the program, a fake with faults in tests and simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw {

struct FileInfo {
  enum class Kind { kFile, kFolder, kLink, kOther };
  Kind kind = Kind::kOther;
  int64_t size = 0;
  uint64_t device = 0, inode = 0;  ///< together they name the file, whatever it is called
  Time changed;                    ///< of its content
  int64_t lines_before = 0;        ///< that a view of the file leaves out at its beginning (read/new_content.h)
};

class ReadFile {
 public:
  virtual ~ReadFile() = default;
  /// Reads up to `size` bytes at `offset` into `out` (replaced); fewer at the end of the file, none past it.
  virtual Result<void> read_at(uint64_t offset, size_t size, std::string& out) = 0;
  /// Of the open file, even when its name now belongs to another.
  virtual Result<FileInfo> info() = 0;
};

class AppendFile {
 public:
  virtual ~AppendFile() = default;
  /// All of `bytes`, or an error; after an error some of them may be there.
  virtual Result<void> append(std::string_view bytes) = 0;
  /// Returns when what was appended is on the medium (fdatasync).
  virtual Result<void> sync() = 0;
  virtual Result<void> truncate(uint64_t size) = 0;
  /// From here on nobody but its owner (and root) may open it, where the file system knows of owners.
  virtual void keep_private() {}
};

class Disk {
 public:
  virtual ~Disk() = default;
  virtual Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) = 0;
  virtual Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) = 0;  ///< created when missing
  virtual Result<FileInfo> info(const std::string& path) = 0;                            ///< follows links
  /// Names in a folder, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& folder) = 0;
  virtual Result<void> make_folders(const std::string& path) = 0;
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;  ///< durable when it returns
  virtual Result<void> remove(const std::string& path) = 0;
  /// What stands in a symbolic link; kInvalid: there is something else. A disk may know of none (kUnsupported).
  virtual Result<std::string> read_link(const std::string& path);
  /// A new link at `path`, where nothing is yet, with `text` in it.
  virtual Result<void> make_link(const std::string& text, const std::string& path);
};

inline Result<std::string> Disk::read_link(const std::string&) {
  return Error{Error::Code::kUnsupported, "this disk has no links", ""};
}
inline Result<void> Disk::make_link(const std::string&, const std::string&) {
  return Error{Error::Code::kUnsupported, "this disk has no links", ""};
}

}  // namespace mw
