// The rows of a document that its writer writes anew as it grows, as transformers does with trainer_state.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "read/lines/row.h"

namespace mw {

/// Remembers the rows of a document, eight bytes for each, over all of its contents. Those that a new content begins
/// with, and that the one before began with, are known; from the first that differs on all are new.
class KnownRows {
 public:
  /// The next row is the first of new content.
  void begin_anew() { next_ = 0; }
  /// Whether the next row is the one that stood in its place before. It is remembered.
  bool is_known(const Row& row);

 private:
  std::vector<uint64_t> hashes_;
  size_t next_ = 0;
};

}  // namespace mw
