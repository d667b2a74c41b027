#include "act/cleanup/ballast.h"

namespace mw {

void Ballast::take() {
  const auto there = disk_.info(path_);
  if (there.ok() && there->size >= static_cast<int64_t>(kBytes)) return;
  auto file = disk_.open_append(path_);
  if (!file.ok()) return;
  const bool whole =
      (*file)->truncate(0).ok() && (*file)->append(std::string(kBytes, '\0')).ok() && (*file)->sync().ok();
  if (!whole) (void)disk_.remove(path_).ok();  // a disk that is that full needs the rest for the journal
}

bool Ballast::release() { return disk_.remove(path_).ok(); }

}  // namespace mw
