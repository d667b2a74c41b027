#include "sense/host/core_file.h"

#include "base/bytes.h"
#include "base/text.h"

namespace mw::host {
namespace {

constexpr size_t kElfHeader = 64, kProgramHeader = 56, kNoteHeader = 12, kInfoBytes = 136;
constexpr uint16_t kTypeCore = 4;
constexpr uint32_t kNoteSegment = 4, kProcessInfo = 3;
constexpr size_t kHeaders = 100'000;

constexpr uint64_t padded(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

std::optional<CoreFile> in_notes(std::string_view notes) {
  while (notes.size() >= kNoteHeader) {
    const uint64_t name = padded(number_at<uint32_t>(notes, 0)), body = padded(number_at<uint32_t>(notes, 4));
    const auto type = number_at<uint32_t>(notes, 8);
    if (name + body > notes.size() - kNoteHeader) return std::nullopt;
    const std::string_view info = notes.substr(kNoteHeader + name, body);
    if (type == kProcessInfo && info.size() >= kInfoBytes) {
      // struct elf_prpsinfo of linux/elfcore.h
      CoreFile core;
      core.pid = number_at<int32_t>(info, 24);
      core.session = number_at<int32_t>(info, 36);
      const std::string_view program = info.substr(40, 16);
      core.program = sanitize_utf8(program.substr(0, program.find('\0')));
      return core;
    }
    notes.remove_prefix(kNoteHeader + name + body);
  }
  return std::nullopt;
}

}  // namespace

std::optional<CoreFile> parse_core_head(std::string_view head) {
  constexpr std::string_view kMagic("\x7f\x45\x4c\x46\x02\x01", 6);  // 64 bits, little-endian
  if (head.size() < kElfHeader || !head.starts_with(kMagic) || number_at<uint16_t>(head, 16) != kTypeCore) {
    return std::nullopt;
  }
  const auto from = number_at<uint64_t>(head, 32);
  const auto size = number_at<uint16_t>(head, 54);
  const auto count = number_at<uint16_t>(head, 56);
  if (size < kProgramHeader || from > head.size()) return std::nullopt;
  for (size_t i = 0; i < count && i < kHeaders; ++i) {
    const uint64_t at = from + i * size;
    if (at + kProgramHeader > head.size()) return std::nullopt;
    if (number_at<uint32_t>(head, at) != kNoteSegment) continue;
    const auto offset = number_at<uint64_t>(head, at + 8), bytes = number_at<uint64_t>(head, at + 32);
    if (offset > head.size()) continue;
    if (auto core = in_notes(head.substr(offset, bytes)); core) return core;
  }
  return std::nullopt;
}

}  // namespace mw::host
