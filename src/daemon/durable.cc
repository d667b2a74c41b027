#include "daemon/durable.h"

namespace mw {

Result<void> write_durably(Disk& disk, const std::string& path, std::string_view text) {
  const std::string temporary = path + ".part";
  (void)disk.remove(temporary).ok();  // of an earlier attempt; absent is well
  {
    auto file = disk.open_append(temporary);
    if (!file.ok()) return file.error();
    MW_TRY((*file)->append(text));
    MW_TRY((*file)->sync());
  }
  return disk.rename(temporary, path);
}

}  // namespace mw
