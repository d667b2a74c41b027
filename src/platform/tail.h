// Follows one file by name while others write, rotate, truncate and re-create it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// Reads a file in order, once. Position and identity are the caller's to keep (journal) and to give back.
class Tail {
 public:
  /// What a read found.
  enum class News {
    kNothing,    ///< no byte that was not read before
    kBytes,      ///< `out` holds the next ones
    kBeganAnew,  ///< the name now belongs to new content (rotation, truncation, re-creation); `why` says which. The
                 ///< old content was read to its end where it was still to be had. The next read starts at byte 0.
    kGone,       ///< the name is gone and the old content is read to its end; it may come back
  };

  Tail(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}

  /// Reads up to `most` bytes. An error leaves everything as it was; try again later.
  Result<News> read(size_t most, std::string& out);

  const std::string& path() const { return path_; }
  uint64_t offset() const { return offset_; }      ///< bytes of the present content that were read
  const std::string& why() const { return why_; }  ///< of the last kBeganAnew: "rotated", "truncated"
  /// The first bytes (at most 256) of the content that the last kBeganAnew left behind.
  const std::string& former_head() const { return former_head_; }
  const FileInfo& identity() const {
    return identity_;
  }  ///< of the present content, as it was at the last read of none
  const FileInfo& former_identity() const { return former_identity_; }
  uint64_t former_offset() const { return former_offset_; }  ///< bytes of it that were read

 private:
  static constexpr size_t kHeadBytes =
      256;  ///< bytes by which content is distinguished from other content under one name

  Result<News> open_first();
  Result<News> look_for_new_content();
  bool head_is_the_same();
  bool moves_to_copy();
  void begin_anew(std::string why);

  Disk& disk_;
  std::string path_;
  std::unique_ptr<ReadFile> file_;
  FileInfo identity_, former_identity_;
  uint64_t offset_ = 0, former_offset_ = 0;
  std::string head_, former_head_;
  std::string why_;
};

}  // namespace mw
