// Compresses finished segments, a little at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "journal/zstd_stream.h"
#include "platform/disk.h"

namespace mw {

/// A finished segment becomes a compressed one in steps of at most 1 MiB, so that no turn of the loop waits for it. A
/// crash at any point leaves the plain segment, or the whole sealed one, or both. An error leaves it plain until the
/// journal is opened again.
class Sealer {
 public:
  Sealer(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  void add(uint64_t segment) { waiting_.push_back(segment); }
  bool idle() const { return waiting_.empty(); }
  void step();

 private:
  Result<void> work();
  Result<void> begin();
  Result<void> finish();
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  Disk& disk_;
  std::string folder_;
  std::deque<uint64_t> waiting_;
  std::unique_ptr<ReadFile> from_;
  std::unique_ptr<AppendFile> to_;
  std::unique_ptr<ZstdWriter> zstd_;
  uint64_t offset_ = 0;
  std::string block_, out_;
};

}  // namespace mw
