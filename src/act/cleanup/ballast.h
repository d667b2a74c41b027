// Space that is held back on the journal's disk and let go when the disk is full, so that a run is still looked after.
#pragma once

#include <string>

#include "base/result.h"
#include "platform/disk.h"

namespace mw {

class Ballast {
 public:
  static constexpr size_t kBytes = size_t{8} << 20;

  Ballast(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}
  /// Takes the space where it is free; without it the run goes on all the same.
  void take();
  /// Lets it go; false when there was none (any more).
  bool release();

 private:
  Disk& disk_;
  std::string path_;
};

}  // namespace mw
