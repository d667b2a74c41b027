// Stretches of a file for which its file system has no bytes: they read as zeros. A file behind the door can say where
// they are or not (`dynamic_cast<SparseFile*>`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mw {

struct FileHole {
  uint64_t begin = 0, end = 0;
};

class SparseFile {
 public:
  virtual ~SparseFile() = default;
  /// The first `most` holes between `from` and `to`, in order, cut there. Of a file system that keeps no record: none.
  virtual std::vector<FileHole> holes(uint64_t from, uint64_t to, size_t most) = 0;
};

}  // namespace mw
