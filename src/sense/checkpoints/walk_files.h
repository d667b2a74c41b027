// The one walk over the files of a checkpoint's folder. What cannot be seen, and what is passed over, is for whoever
// walks to decide: a verification says that it did not see all, a scan proves nothing then, and a push refuses.
#pragma once

#include <functional>
#include <string>

#include "platform/disk.h"

namespace mw {

/// Why something is not among the files.
enum class Unseen : uint8_t {
  kFolder,  ///< it cannot be listed
  kEntry,   ///< nothing is known of it: a link to what is not of this machine, or it went meanwhile
  kDepth,   ///< a folder too far down; links that lead upwards end here
  kCount,   ///< there are too many files
  kOther    ///< neither a file nor a folder
};

struct FileWalk {
  size_t files = 0;  ///< at most
  int depth = 0;     ///< folders below the first one
  /// Nullptr: nothing is passed over.
  std::function<bool(const std::string& path, const FileInfo& info)> passes_over = nullptr;
  /// Links to files and folders are followed. An error ends the walk.
  std::function<Result<void>(std::string path, const FileInfo& info)> file = nullptr;
  std::function<Result<void>(Unseen why, const std::string& path, const Error& error)> unseen = nullptr;
};

/// Paths are those below `folder`, in the order of names, folder by folder.
Result<void> walk_files(Disk& disk, const std::string& folder, const FileWalk& walk);

}  // namespace mw
