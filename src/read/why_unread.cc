#include "read/why_unread.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "read/files/csv.h"

namespace mw {

std::string why_unread(Disk& disk, const std::string& path) {
  using namespace std::string_view_literals;
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPacked{{
      {"\xfd"
       "7zXZ\0"sv,
       "xz"},
      {"BZh"sv, "bzip2"},
      {"PK\x03\x04"sv, "zip"},
      {"7z\xbc\xaf\x27\x1c"sv, "7z"},
  }};
  constexpr size_t kHead = 8;
  const auto info = disk.info(path);
  if (!info.ok() || info->kind != FileInfo::Kind::kFile) return "";
  if (info->size == 0) return "it is empty";
  auto file = disk.open_read(path);
  std::string head;
  if (!file.ok() || !(*file)->read_at(0, kHead, head).ok()) return "";
  for (const auto& [begins, name] : kPacked) {
    if (head.starts_with(begins))
      return cat("it is packed with ", name, ": unpack it first; .gz and .zst are read as they are");
  }
  return "";
}

std::string why_unnamed(Disk& disk, const std::string& path) {
  constexpr size_t kHead = 4096;
  if (!path.ends_with(".csv") && !path.ends_with(".tsv")) return "";
  auto file = disk.open_read(path);
  std::string head;
  if (!file.ok() || !(*file)->read_at(0, kHead, head).ok()) return "";
  const std::string_view first = std::string_view(head).substr(0, head.find('\n'));
  if (!is_row_of_numbers(first)) return "";
  return "it has no header: its first line is a row of numbers, and nothing says what its columns are";
}

}  // namespace mw
