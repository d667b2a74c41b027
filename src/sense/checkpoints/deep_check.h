// Reads every byte of a checkpoint, once: checksums of files and of what is in them, and whether the numbers are sane.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sense/checkpoints/examination.h"
#include "sense/checkpoints/manifest.h"
#include "sense/checkpoints/tensor_scan.h"

namespace mw {

struct DeepFigures {
  uint64_t bytes = 0;           ///< that were read
  uint64_t tensors = 0;         ///< whose numbers were looked at
  uint64_t zero = 0;            ///< of them, all zero
  uint64_t weights = 0;         ///< of them, those that are a model's, by their names and their files'
  uint64_t zero_weights = 0;    ///< of these, all zero
  uint64_t weight_bytes = 0;    ///< of `weights`
  uint64_t other_bytes = 0;     ///< in the same files, of kinds that are not looked at: 8 bits, headers
  uint64_t unjudged_bytes = 0;  ///< of a model's tensors, of kinds that are not looked at, where they are a share
  TensorFigures all;
};

/// Bytes done, and in all. False: stop.
using CheckProgress = std::function<bool(int64_t, int64_t)>;

/// One pass over all files; what is found goes into the examination. The checksums are those of the files as they were
/// read. Memory: per thread 4 MiB of a file
/// and its directory; where files cannot be mapped, 20 MB of what is read ahead. Several
/// threads read a file each, or share the last ones, one large file, too; what they find is the same, in the same
/// order. `progress` is called by one at a time.
struct DeepAnswer {
  DeepFigures figures;
  std::vector<ManifestFile> files;
  bool stopped = false;
};
DeepAnswer check_deeply(Examination& exam, int threads, const CheckProgress& progress);

}  // namespace mw
