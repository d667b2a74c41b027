// The files of a checkpoint on the disk, as they are now.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/disk.h"
#include "sense/checkpoints/manifest.h"

namespace mw::vault {

struct LocalFile {
  std::string path;  ///< below the folder
  FileInfo info;
  std::string from = {};  ///< where it lies, if that is not below the folder
};

/// Nobody wrote to the file since it was verified, as far as its size and time say.
inline bool is_untouched(const LocalFile& now, const mw::ManifestFile& then) {
  return now.path == then.path && now.info.size == then.bytes && now.info.changed == then.changed;
}

struct Tree {
  std::vector<LocalFile> files;  ///< in byte order of their paths
  int64_t bytes = 0;
  Time newest;  ///< when a file was changed last

  /// 16 hexadecimal digits of names, sizes and times: other ones after any change.
  std::string state() const;
};

/// Links to files and folders are followed: what a trainer would load is what is shipped. kInvalid: something in it is
/// neither a file nor a folder, has a name that no store could keep, or leads in circles.
Result<Tree> walk(Disk& disk, const std::string& folder);

/// Likewise the one file `name` in it, and nothing else that lies there.
Result<Tree> walk_one(Disk& disk, const std::string& folder, const std::string& name);

/// Why a push ends, and what to do then: `what` says of the whole checkpoint or of a file that it was removed, or of a
/// file that it changed.
Error removed_meanwhile(const std::string& what);
Error still_being_written(const std::string& what);
/// The hint of the latter.
inline constexpr std::string_view kWrittenHint = "Push it when its save is over.";

/// What of `before` is otherwise in `after`: the path of the first such file; "" when all is the same.
std::string difference(const Tree& before, const Tree& after);

}  // namespace mw::vault
