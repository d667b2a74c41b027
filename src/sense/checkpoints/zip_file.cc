#include "sense/checkpoints/zip_file.h"

#include "base/bytes.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr uint32_t kEndRecord = 0x06054b50, kEndLocator64 = 0x07064b50, kEndRecord64 = 0x06064b50;
constexpr uint32_t kCentralEntry = 0x02014b50, kLocalHeader = 0x04034b50;
constexpr size_t kEndRecordBytes = 22, kLocatorBytes = 20, kEndRecord64Bytes = 56, kCentralBytes = 46;
constexpr uint32_t kIn64 = 0xffffffff;  // "see the extra field"

Error broken(std::string what) { return {Error::Code::kInvalid, std::move(what), ""}; }
Error cut() { return {Error::Code::kTruncated, "it is cut: its directory is missing", ""}; }

/// The 64-bit fields of an entry, which stand in its extra field in this order where the 32-bit ones are full.
bool read_wide(std::string_view extra, uint64_t& plain, uint64_t& packed, uint64_t& header) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    const size_t size = number_at<uint16_t>(extra, at + 2);
    if (size > extra.size() - at - 4) return false;
    if (number_at<uint16_t>(extra, at) == 1) {
      std::string_view field = extra.substr(at + 4, size);
      for (uint64_t* value : {&plain, &packed, &header}) {
        if (*value != kIn64) continue;
        if (field.size() < 8) return false;
        *value = number_at<uint64_t>(field, 0);
        field.remove_prefix(8);
      }
      return true;
    }
    at += 4 + size;
  }
  return plain != kIn64 && packed != kIn64 && header != kIn64;
}

}  // namespace

Result<ZipDirectoryPlace> find_zip_directory(std::string_view tail, uint64_t file_bytes) {
  if (tail.size() < kEndRecordBytes || tail.size() > file_bytes) return cut();
  const uint64_t from = file_bytes - tail.size();  // where the tail begins in the file
  for (size_t at = tail.size() - kEndRecordBytes;; --at) {
    const bool here = number_at<uint32_t>(tail, at) == kEndRecord &&
                      at + kEndRecordBytes + number_at<uint16_t>(tail, at + 20) == tail.size();
    if (!here) {
      if (at == 0) return cut();
      continue;
    }
    uint64_t size = number_at<uint32_t>(tail, at + 12), offset = number_at<uint32_t>(tail, at + 16), end = from + at;
    if (at >= kLocatorBytes && number_at<uint32_t>(tail, at - kLocatorBytes) == kEndLocator64) {
      const auto place = number_at<uint64_t>(tail, at - kLocatorBytes + 8);
      if (place < from || place - from > at || at - (place - from) < kEndRecord64Bytes ||
          number_at<uint32_t>(tail, place - from) != kEndRecord64) {
        return broken("its directory is damaged");
      }
      size = number_at<uint64_t>(tail, place - from + 40);
      offset = number_at<uint64_t>(tail, place - from + 48);
      end = place;
    }
    if (size > end || offset != end - size || size == 0) return broken("its directory is damaged");
    return ZipDirectoryPlace{offset, size};
  }
}

Result<uint64_t> zip_bytes_ending(std::string_view tail) {
  if (tail.size() < kEndRecordBytes) return cut();
  const size_t at = tail.size() - kEndRecordBytes;
  if (number_at<uint32_t>(tail, at) != kEndRecord || number_at<uint16_t>(tail, at + 20) != 0) return cut();
  uint64_t size = number_at<uint32_t>(tail, at + 12), offset = number_at<uint32_t>(tail, at + 16),
           behind = kEndRecordBytes;
  if (at >= kLocatorBytes + kEndRecord64Bytes && number_at<uint32_t>(tail, at - kLocatorBytes) == kEndLocator64 &&
      number_at<uint32_t>(tail, at - kLocatorBytes - kEndRecord64Bytes) == kEndRecord64) {
    const size_t record = at - kLocatorBytes - kEndRecord64Bytes;
    size = number_at<uint64_t>(tail, record + 40);
    offset = number_at<uint64_t>(tail, record + 48);
    behind += kLocatorBytes + kEndRecord64Bytes;
  }
  constexpr uint64_t kMost = uint64_t{1} << 60;
  if (size == 0 || size > kMost || offset > kMost) return broken("its directory is damaged");
  return offset + size + behind;
}

Result<std::vector<ZipMember>> parse_zip_directory(std::string_view directory, uint64_t directory_at) {
  std::vector<ZipMember> members;
  for (size_t at = 0; at < directory.size();) {
    if (directory.size() - at < kCentralBytes || number_at<uint32_t>(directory, at) != kCentralEntry)
      return broken("its directory is damaged");
    const size_t name = number_at<uint16_t>(directory, at + 28), extra = number_at<uint16_t>(directory, at + 30),
                 comment = number_at<uint16_t>(directory, at + 32);
    if (name + extra + comment > directory.size() - at - kCentralBytes) return broken("its directory is damaged");
    if (members.size() >= kZipMembers) return Error{Error::Code::kLimit, "it has more members than are read", ""};
    ZipMember member;
    member.stored = number_at<uint16_t>(directory, at + 10) == 0;
    member.crc = number_at<uint32_t>(directory, at + 16);
    uint64_t packed = number_at<uint32_t>(directory, at + 20);
    member.bytes = number_at<uint32_t>(directory, at + 24);
    member.header = number_at<uint32_t>(directory, at + 42);
    member.name = directory.substr(at + kCentralBytes, name);
    if (!read_wide(directory.substr(at + kCentralBytes + name, extra), member.bytes, packed, member.header) ||
        (member.stored && packed != member.bytes) || packed > directory_at || member.header > directory_at - packed) {
      return broken(cat("its directory is damaged at ", clip(sanitize_utf8(member.name), 100)));
    }
    if (!member.stored) member.bytes = packed;
    members.push_back(std::move(member));
    at += kCentralBytes + name + extra + comment;
  }
  return members;
}

Result<uint64_t> check_local_header(std::string_view local, const ZipMember& member, uint64_t directory_at) {
  const auto what = [&member](std::string_view trouble) {
    return broken(cat("member ", clip(sanitize_utf8(member.name), 100), " ", trouble));
  };
  if (local.size() < kZipLocalBytes) return what("is cut");
  if (number_at<uint32_t>(local, 0) != kLocalHeader) return what("does not begin where the directory says");
  const size_t name = number_at<uint16_t>(local, 26), extra = number_at<uint16_t>(local, 28);
  if (name != member.name.size()) return what("has another name than in the directory");
  if ((number_at<uint16_t>(local, 8) == 0) != member.stored) return what("is packed otherwise than in the directory");
  const uint64_t at = member.header + kZipLocalBytes + name + extra;
  if (at > directory_at || member.bytes > directory_at - at) return what("reaches into the directory");
  return at;
}

}  // namespace mw
