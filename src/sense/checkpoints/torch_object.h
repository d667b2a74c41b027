// What a pickle of torch.save speaks of: its tensors, the storages that hold their numbers, and its whole numbers by
// name. Nothing is run.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "read/files/pickle.h"
#include "sense/checkpoints/dtype.h"

namespace mw {

/// A tensor within a storage.
struct TorchTensor {
  std::string name;     ///< keys of the dicts that lead to it, joined by dots
  std::string storage;  ///< its key: the member data/<key> of the archive
  uint64_t first = 0;   ///< number of the storage with which it begins
  std::vector<int64_t> shape;
  uint64_t end = 0;   ///< behind the last number of the storage that is in it, whatever its strides
  bool dense = true;  ///< its numbers lie one after the other
};

struct TorchStorage {
  Dtype dtype = Dtype::kOther;
  uint64_t numbers = 0;
  uint64_t bytes() const { return numbers * size_of(dtype); }  ///< 0 where the kind of number is not known
};

struct TorchObject {
  std::vector<TorchTensor> tensors;
  std::map<std::string, TorchStorage> storages;
  /// "global_steps", "optimizer.step": those of the first levels, by path; "number" of an object that is nothing else.
  std::map<std::string, int64_t> numbers;
  std::map<std::string, int64_t>
      steps;                   ///< an optimizer's own counters of its steps (optimizer_counter.h), at any depth
  std::set<std::string> keys;  ///< of the outermost dict, and of dicts directly in it as "a.b"; without those of None
  uint64_t param_numbers = 0;  ///< that DeepSpeed's "param_shapes" ask for, all together; 0: it has none
  bool clipped = false;        ///< it has more than is kept
  bool opaque = false;  ///< what is in some of its values is not known: they may hold weights (numpy's arrays do)
};

/// Bounds of what is kept of one object.
constexpr size_t kTorchTensors = 200'000;
constexpr int kTorchDepth = 64;

/// torch/serialization.py: persistent ids ("storage", class, key, place, numbers); torch/_utils.py: _rebuild_tensor_v2.
TorchObject torch_object(const Pickle& pickle);

/// Numbers in a tensor of that shape; nothing where they are more than can be.
uint64_t numbers_in(const std::vector<int64_t>& shape);

}  // namespace mw
