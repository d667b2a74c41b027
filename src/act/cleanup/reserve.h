// Space on the journal's disk that is released when the disk is full, so that midwatch can still record what it does.
#pragma once

#include <string>

#include "base/result.h"
#include "platform/disk.h"

namespace mw {

class Reserve {
 public:
  static constexpr size_t kBytes = size_t{8} << 20;

  /// In a run's folder.
  Reserve(Disk& disk, const std::string& run_folder);
  /// Allocates the space if there is enough. Without a reserve the run is supervised all the same.
  void take();
  /// Releases it; false when there was none (any more).
  bool release();

 private:
  Disk& disk_;
  std::string path_, old_path_;
};

}  // namespace mw
