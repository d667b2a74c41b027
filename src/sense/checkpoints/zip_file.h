// The directory of a zip archive as torch.save writes one: members stored as they are, 64-bit records where needed
// (PKWARE APPNOTE 6.3.10). Only what is needed to know whether each member is there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mw {

struct ZipMember {
  std::string name;
  uint64_t at = 0;      ///< of its data, from the archive's beginning; known once its local header was read
  uint64_t header = 0;  ///< of its local header
  uint64_t bytes = 0;
  uint32_t crc = 0;    ///< CRC-32 of its data
  bool stored = true;  ///< not compressed
};

/// Bounds: of one directory, and of the members that are kept of it.
constexpr size_t kZipDirectoryBytes = size_t{32} << 20;
constexpr size_t kZipMembers = 200'000;
/// A local header without its name and extra field.
constexpr size_t kZipLocalBytes = 30;

/// Where the central directory lies: from the archive's last bytes (at most kZipTail). The error says what is missing;
/// kTruncated: its end is not there.
struct ZipDirectoryPlace {
  uint64_t at = 0, bytes = 0;
};
Result<ZipDirectoryPlace> find_zip_directory(std::string_view tail, uint64_t file_bytes);

/// Bytes of the archive whose last ones `tail` are, where other bytes may lie before it; it must have no comment.
/// Errors as above.
Result<uint64_t> zip_bytes_ending(std::string_view tail);

/// The members that a directory lists, in its order. kInvalid: it is damaged; kLimit: more than is read.
Result<std::vector<ZipMember>> parse_zip_directory(std::string_view directory, uint64_t directory_at);

/// Where the data of a member begins, by its local header (`local`: kZipLocalBytes from member.header on); the error
/// says in what the header differs from the directory.
Result<uint64_t> check_local_header(std::string_view local, const ZipMember& member, uint64_t directory_at);

}  // namespace mw
