// The folder that one receiver writes a checkpoint into, until it is complete and gets its name.
#pragma once

#include <memory>
#include <string>

#include "platform/disk.h"
#include "platform/lock.h"

namespace mw::vault {

/// Nobody else writes into `path` while this lives: not even a receiver that was stopped and goes on later, as it has
/// another folder then.
class ReceivingFolder {
 public:
  ReceivingFolder() = default;
  ReceivingFolder(ReceivingFolder&& other) noexcept = default;
  ReceivingFolder& operator=(ReceivingFolder&&) = delete;
  ReceivingFolder(const ReceivingFolder&) = delete;
  ~ReceivingFolder();

  /// The first of `partial`, `partial`.2, … whose lock file beside it nobody holds, so that what a killed receiver left
  /// is gone on with. Where the file system keeps no locks: `partial`.`own`, which nobody else uses. Without `locks`
  /// nobody else is there.
  static Result<ReceivingFolder> claim(Disk& disk, Locks* locks, const std::string& partial, const std::string& own);

  const std::string& path() const { return path_; }

 private:
  Disk* disk_ = nullptr;
  std::string path_;
  std::string lock_path_;
  std::unique_ptr<Lock> lock_;
};

}  // namespace mw::vault
