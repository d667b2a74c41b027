#include "act/cleanup/reserve.h"

#include "base/text.h"

namespace mw {
namespace {

constexpr std::string_view kFile = "reserve", kOldFile = "ballast";  // the latter is midwatch 0.1's

}  // namespace

Reserve::Reserve(Disk& disk, const std::string& run_folder)
    : disk_(disk), path_(cat(run_folder, "/", kFile)), old_path_(cat(run_folder, "/", kOldFile)) {}

void Reserve::take() {
  (void)disk_.rename(old_path_, path_).ok();
  const auto there = disk_.info(path_);
  if (there.ok() && there->size >= static_cast<int64_t>(kBytes)) return;
  auto file = disk_.open_append(path_);
  if (!file.ok()) return;
  const bool whole =
      (*file)->truncate(0).ok() && (*file)->append(std::string(kBytes, '\0')).ok() && (*file)->sync().ok();
  if (!whole) (void)disk_.remove(path_).ok();  // a disk that is that full needs the rest for the journal
}

bool Reserve::release() {
  const bool old = disk_.remove(old_path_).ok();
  return disk_.remove(path_).ok() || old;
}

}  // namespace mw
