// Moves a command's output from its pipe into a file. The command never waits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "act/keeper/pending_output.h"
#include "base/result.h"

namespace mw {

/// While the disk is full, output waits in memory, and beyond that is dropped and counted: a trainer that blocks on its
/// own log is worse than a gap in the log.
class Capture {
 public:
  static constexpr size_t kWaitingBytes = 16U << 20;  ///< of output kept in memory while the file cannot be written
  static constexpr int kPipeBytes = 1 << 20;          ///< requested size of the pipe; a larger one means fewer wake-ups
  static constexpr size_t kReserveBytes = 4U << 20;   ///< allocated beside the file, released when the disk is full

  /// `pipe` is non-blocking and owned by the caller. `path` is created, or appended to.
  Capture(int pipe, std::string path, uint64_t rotate_bytes);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Opens the file and allocates the reserve.
  Result<void> open();
  /// Moves what is in the pipe now, at most `most` bytes. Returns how many left the pipe; 0 when it was empty.
  size_t pump(size_t most);
  /// Appends midwatch's own `line` to what the command has written so far, on a new line.
  void say(std::string_view line);
  /// True while output waits in memory: call pump() again within a second, even when the pipe is quiet.
  bool waiting() const { return !waiting_.empty(); }
  uint64_t lost() const { return lost_; }     ///< bytes dropped so far
  uint64_t written() const { return size_; }  ///< bytes in the current file

 private:
  size_t move(size_t most);
  void show_waiting() { pending_.show(file_, size_, waiting_); }
  size_t splice_some(size_t most);
  size_t read_some(size_t most);
  void write_waiting();
  /// Finishes the line that the file ends in, then rotates.
  size_t rotate_at_line_end();
  /// Renames the file to the next free number and opens a new one.
  void rotate();
  /// Deletes the reserve file; false when there is none.
  bool release_reserve();

  int pipe_;
  std::string path_;
  uint64_t rotate_bytes_;
  int file_ = -1;
  uint64_t size_ = 0;
  bool can_splice_ = true;  // some file systems refuse
  std::string waiting_;
  PendingOutput pending_;  // shows `waiting_` to the watch
  uint64_t lost_ = 0;
};

}  // namespace mw
