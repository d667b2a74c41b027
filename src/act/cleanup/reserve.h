// Space on the journal's disk that is given up when the disk is full, so that a run is still looked after.
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
  /// Takes the space where it is free; without it the run goes on all the same.
  void take();
  /// Gives it up; false when there was none (any more).
  bool release();

 private:
  Disk& disk_;
  std::string path_, old_path_;
};

}  // namespace mw
