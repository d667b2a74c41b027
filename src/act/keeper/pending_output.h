// Output of a command that waits in its keeper's memory while no disk takes it, and how whoever watches the run reads
// it there: the watch of a run goes on while its disk is full.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "platform/passing_disk.h"

namespace mw {

/// The keeper's side: a file in memory without a name, which others reach by /proc/PID/fd.
class PendingOutput {
 public:
  PendingOutput();
  ~PendingOutput();
  PendingOutput(const PendingOutput&) = delete;
  PendingOutput& operator=(const PendingOutput&) = delete;

  /// `waiting` follows the first `from` bytes of the open file `output`; "": nothing waits.
  void show(int output, uint64_t from, std::string_view waiting);

 private:
  int file_ = -1;  // -1: the system has no such files, and what waits is not shown
  uint64_t change_ = 0, from_ = 0, length_ = 0;
};

/// A disk on which the file `path` is followed by what its keeper still holds in memory: as it will be once the disk
/// takes it. All else is as on `disk`. Not thread-safe.
class WithPendingOutput final : public PassingDisk {
 public:
  /// `keeper`: the process that writes the file now; 0 while none does. What the last one held is shown meanwhile.
  WithPendingOutput(Disk& disk, std::string path, std::function<int64_t()> keeper);
  ~WithPendingOutput() override;
  WithPendingOutput(const WithPendingOutput&) = delete;
  WithPendingOutput& operator=(const WithPendingOutput&) = delete;

  Result<std::unique_ptr<ReadFile>> open_read(const std::string& path) override;
  Result<FileInfo> info(const std::string& path) override;

 private:
  class File;
  struct Pending {
    uint64_t change = 0, device = 0, inode = 0, from = 0, length = 0;
    uint64_t end() const { return from + length; }
  };
  /// What waits behind the file that this is; nothing where `length` is 0.
  Pending pending_of(const FileInfo& file);
  /// Bytes from `offset` on, which lies in `pending`. Empty where it changed meanwhile.
  std::string read(const Pending& pending, uint64_t offset, size_t most) const;
  void follow();

  std::string path_;
  std::function<int64_t()> keeper_;
  int64_t followed_ = 0;  // the keeper whose memory `memory_` is, or in which there was none
  int memory_ = -1;
  Pending last_;  // that was seen whole
};

}  // namespace mw
