// The .metadata of torch.distributed.checkpoint, a pickle that is read and never run
// (torch/distributed/checkpoint/metadata.py, filesystem.py).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sense/checkpoints/examination.h"

namespace mw {

struct DistributedIndex {
  std::map<std::string, std::vector<DistributedItem>> files;  ///< by .distcp file; items ordered by place
  std::set<std::string> names;                                ///< of all that was saved, as the metadata lists it
  std::set<std::string> stored;                               ///< likewise, as the storage lists it
  std::map<std::string, std::vector<int64_t>> shapes;         ///< of whole tensors, over all ranks; by name
  bool weights = false;  ///< something in it may be weights: no part of an optimizer, and a tensor, or large
  /// Tensors whose pieces are less than the whole.
  struct Gap {
    std::string name;
    uint64_t listed = 0, all = 0;  ///< numbers
  };
  std::vector<Gap> gaps;
};

/// Bounds: items of one .metadata that are kept.
constexpr size_t kDistributedItems = 400'000;

/// kLimit: it is larger than what is read; kTruncated, kInvalid: it is no such pickle, or damaged, or names files
/// outside of its folder.
Result<DistributedIndex> parse_distributed_metadata(std::string_view pickle);

}  // namespace mw
