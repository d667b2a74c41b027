#include "sense/checkpoints/walk_files.h"

#include "base/text.h"

namespace mw {
namespace {

class Walker {
 public:
  Walker(Disk& disk, const std::string& folder, const FileWalk& walk) : disk_(disk), folder_(folder), walk_(walk) {}

  Result<void> list(const std::string& below, int depth) {
    const auto names = disk_.list(full(below));
    if (!names.ok()) return walk_.unseen(Unseen::kFolder, below, names.error());
    for (const std::string& name : *names) MW_TRY(look(below.empty() ? name : cat(below, "/", name), depth));
    return {};
  }

 private:
  Result<void> look(std::string path, int depth) {
    const auto info = disk_.info(full(path));
    if (!info.ok()) return walk_.unseen(Unseen::kEntry, path, info.error());
    if (walk_.passes_over && walk_.passes_over(path, *info)) return {};
    if (info->kind == FileInfo::Kind::kFolder) {
      return depth < walk_.depth ? list(path, depth + 1) : walk_.unseen(Unseen::kDepth, path, Error{});
    }
    if (info->kind != FileInfo::Kind::kFile) return walk_.unseen(Unseen::kOther, path, Error{});
    if (files_ == walk_.files) return walk_.unseen(Unseen::kCount, path, Error{});
    ++files_;
    return walk_.file(std::move(path), *info);
  }

  std::string full(const std::string& path) const {
    return path.empty() ? folder_ : cat(folder_ == "/" ? "" : folder_, "/", path);
  }

  Disk& disk_;
  const std::string& folder_;
  const FileWalk& walk_;
  size_t files_ = 0;
};

}  // namespace

Result<void> walk_files(Disk& disk, const std::string& folder, const FileWalk& walk) {
  return Walker(disk, folder, walk).list("", 0);
}

}  // namespace mw
