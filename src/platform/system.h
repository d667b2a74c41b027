// The door to what the kernel shows of the machine: small files under /proc and /sys, file systems, its log.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

/// A file system, as statvfs(3) has it for processes without privileges.
struct Space {
  int64_t free = 0, size = 0;              ///< bytes
  int64_t files_free = 0, files_size = 0;  ///< inodes; size 0: the file system does not count them
};

/// An entry of a folder.
struct Entry {
  std::string name;
  bool folder = false, file = false;  ///< links are neither
  bool executable = true;             ///< somebody may execute it
  int64_t bytes = 0;                  ///< that it takes on the disk
  int64_t changed_ns = 0;             ///< since 1970-01-01 UTC
  int64_t born_ns = 0;                ///< likewise; 0 where the file system does not know
  uint64_t device = 0, inode = 0;     ///< together they name it, whatever it is called
  int64_t owner = -1;                 ///< the user's number
  uint64_t links = 1;                 ///< names that it has
};

/// All calls may be made from any thread at once, kernel_lines() from one at a time.
class System {
 public:
  static constexpr size_t kFileBytes = size_t{256} << 10;  ///< of a small file, at most
  static constexpr size_t kNames = 100'000;                ///< of one folder, at most

  virtual ~System() = default;
  /// The first `limit` bytes of a small file.
  virtual Result<std::string> read(const std::string& path, size_t limit = kFileBytes) = 0;
  /// Names in a folder without "." and "..", in any order. Does not look at what they name.
  virtual Result<std::vector<std::string>> names(const std::string& folder) = 0;
  /// What a link says that it points to, which need not exist. kInvalid: it is no link.
  virtual Result<std::string> link(const std::string& path) = 0;
  /// How many entries a folder has, as names() would list.
  virtual Result<size_t> count(const std::string& folder) = 0;

  // These may take as long as a network file system does not answer, which may be for ever: not on the loop's thread.
  virtual Result<Entry> entry(const std::string& path) = 0;       ///< does not follow a link at the end
  virtual Result<Space> space(const std::string& path) = 0;       ///< of the file system that holds `path`
  virtual Result<std::string> real(const std::string& path) = 0;  ///< without links, absolute

  /// What the kernel said since the last call, oldest first, without the record's head; at first nothing, as what lies
  /// before the watch is not its business. kDenied: not for us to read.
  virtual Result<std::vector<std::string>> kernel_lines() = 0;
};

/// `root` ("" is the machine's own) is put in front of each path under /proc and /sys: a folder with copies, for tests.
std::unique_ptr<System> make_posix_system(const std::string& root = "");

/// A machine that tests make up.
class FakeSystem final : public System {
 public:
  std::map<std::string, std::string> files;
  std::map<std::string, Entry> entries;  ///< in place of what entry() would make of `files`
  std::map<std::string, Space> spaces;   ///< by folder; the longest that a path begins with holds it
  std::vector<std::string> log;          ///< of the kernel; taken by the next call

  Result<std::string> read(const std::string& path, size_t limit) override;
  Result<std::vector<std::string>> names(const std::string& folder) override;
  Result<std::string> link(const std::string& path) override;  ///< the text of the file of that path
  Result<size_t> count(const std::string& folder) override;
  Result<Entry> entry(const std::string& path) override;
  Result<Space> space(const std::string& path) override;
  Result<std::string> real(const std::string& path) override;
  Result<std::vector<std::string>> kernel_lines() override;
};

}  // namespace mw
