// How the tensors of two checkpoints differ, number by number, whatever files they lie in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "platform/disk.h"
#include "sense/checkpoints/dtype.h"
#include "sense/checkpoints/tensor_scan.h"

namespace mw {

struct TensorDifference {
  std::string name;  ///< of tensors that every rank has its own of, behind the file's path and ":"
  bool there[2] = {false, false};
  Dtype dtype[2] = {Dtype::kOther, Dtype::kOther};
  std::vector<int64_t> shape[2];
  TensorFigures figures[2];
  TensorChange change;
  bool compared = false;  ///< it is of the same kind and shape in both
};

struct TensorsDiff {
  std::vector<TensorDifference> tensors;  ///< in byte order of their names
  std::vector<std::string> unread;  ///< files of either whose tensors cannot be read, and why: they are lacking above
  std::vector<std::string> notes;
};

/// Bounds: tensors of one checkpoint.
constexpr size_t kDiffTensors = 150'000;

/// Checkpoints, or files. Errors: a path that is not there; one without a tensor that can be read. `progress`: of bytes
/// done, and in all.
Result<TensorsDiff> diff_tensors(Disk& disk, const std::string& before, const std::string& after,
                                 const std::function<void(int64_t, int64_t)>& progress);

}  // namespace mw
