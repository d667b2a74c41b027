#include "platform/durable.h"

namespace mw {

constexpr size_t kSmallFile = 4U << 20;  // bytes

Result<std::string> read_small(Disk& disk, const std::string& path) {
  auto file = disk.open_read(path);
  if (!file.ok()) return file.error();
  std::string text;
  MW_TRY((*file)->read_at(0, kSmallFile, text));
  return text;
}

namespace {

Result<void> write(Disk& disk, const std::string& path, std::string_view text, bool privately) {
  const std::string temporary = path + ".part";
  {
    auto file = disk.open_append(temporary);
    if (!file.ok()) return file.error();
    MW_TRY((*file)->truncate(0));  // an earlier attempt may have left a part of it
    if (privately) (*file)->keep_private();
    MW_TRY((*file)->append(text));
    MW_TRY((*file)->sync());
  }
  return disk.rename(temporary, path);
}

}  // namespace

Result<void> write_durably(Disk& disk, const std::string& path, std::string_view text) {
  return write(disk, path, text, false);
}

Result<void> write_privately(Disk& disk, const std::string& path, std::string_view text) {
  return write(disk, path, text, true);
}

}  // namespace mw
