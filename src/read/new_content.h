// The files of a run as they grow from a moment on: what stood in them before belongs to earlier runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/passing_disk.h"

namespace mw {

/// A disk on which files lack the content that they had before. A file that did not grow since is empty. Of a text and
/// of JSON lines only what was added is there, FileInfo::lines_before says how many lines come before it; any other
/// file is there as a whole once it has grown. A file that was truncated, or that bears other first bytes, is a new
/// one.
///
/// Not thread-safe.
class NewContent final : public PassingDisk {
 public:
  explicit NewContent(Disk& disk) : PassingDisk(disk) {}

  /// All that is now in these files, and in those in these folders that discover() finds, is old. What is not there,
  /// has no old content.
  void leave_out(const std::vector<std::string>& paths);
  /// The first `bytes` of this file are old.
  void leave_out(const std::string& path, int64_t bytes);
  /// Something of it, as long as it is the same file.
  bool leaves_out(const std::string& path) const;

  /// What is left out, as JSON; and what an earlier watch of the same run left out. What cannot be parsed is nothing.
  std::string text() const;
  void restore(std::string_view text);

  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override;
  Result<FileInfo> info(const std::string& path) override;

 private:
  class File;
  struct Old {
    int64_t bytes = 0;
    uint64_t head = 0;       ///< hash of the first `head_bytes` of it
    int64_t head_bytes = 0;  ///< at most kHeadBytes
    bool by_line = false;    ///< known once it has grown: what was added stands by itself
    int64_t lines = -1;      ///< in it; -1: not counted yet
  };
  using Identity = std::pair<uint64_t, uint64_t>;  ///< device, inode

  FileInfo seen(const FileInfo& whole, ReadFile& file, const std::string& path);
  bool still_there(const Old& old, ReadFile& file) const;

  std::map<Identity, Old> old_;
};

}  // namespace mw
