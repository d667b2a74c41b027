#include "sense/checkpoints/stood_still.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/frozen.h"

namespace mw {
namespace {

constexpr uint64_t kFewNumbers = 64;  // of a tensor that may come to zero by itself: a bias, a scale, a gate

/// What is set to zero on purpose: a LoRA that was merged, buffers that count anew.
bool may_become_zero(std::string_view name) {
  constexpr std::array<std::string_view, 9> kParts = {"lora_B", "lora_embedding_B", "mask", "alibi",  "amax",
                                                      "tokens", "running_",         "grad", "counter"};
  return std::any_of(kParts.begin(), kParts.end(), [name](std::string_view part) { return contains(name, part); });
}

struct Tensor {
  const ManifestFile* file = nullptr;
  const ManifestTensor* tensor = nullptr;
};
/// The tensors of the model and of its optimizer, by file and name; of several of one name in a file the number, too.
using Tensors = std::map<std::pair<std::string, size_t>, Tensor>;

Tensors tensors_of(const std::vector<ManifestFile>& files) {
  Tensors out;
  for (const ManifestFile& file : files) {
    const FileRole role = role_of(basename(file.path));
    if (role != FileRole::kWeights && role != FileRole::kOptimizer) continue;
    std::map<std::string_view, size_t> met;
    for (const ManifestTensor& tensor : file.tensors) {
      if (tensor.numbers > 0) out[{cat(file.path, ":", tensor.name), met[tensor.name]++}] = {&file, &tensor};
    }
  }
  return out;
}

/// Byte for byte, as far as is remembered: where the format has no checksum for it, by that of its file.
bool is_same(const Tensor& a, const Tensor& b) {
  if (a.tensor->numbers != b.tensor->numbers || a.tensor->norm != b.tensor->norm) return false;
  if (a.tensor->crc != 0 && b.tensor->crc != 0) return a.tensor->crc == b.tensor->crc;
  return same_bytes(*a.file, *b.file);
}

struct Count {
  size_t all = 0, still = 0, zero = 0;
};

}  // namespace

StoodStill stood_still(const CheckpointManifest& before, const std::vector<ManifestFile>& after, int64_t trained) {
  const Tensors was = tensors_of(before.files), now = tensors_of(after);
  Count weights, moments;
  size_t fallen = 0;
  std::string first;
  for (const auto& [key, one] : now) {
    const auto then = was.find(key);
    if (then == was.end() || then->second.tensor->numbers != one.tensor->numbers) continue;
    const TensorPart part = part_of(key.first, Dtype::kF32);
    const bool zero = one.tensor->zero, still = is_same(then->second, one);
    Count* const count = part == TensorPart::kWeight ? &weights : part == TensorPart::kMoment ? &moments : nullptr;
    if (count == nullptr) continue;
    ++count->all;
    count->still += still ? 1 : 0;
    count->zero += zero ? 1 : 0;
    const bool fell = part == TensorPart::kWeight && zero && !then->second.tensor->zero;
    if (fell && one.tensor->numbers >= kFewNumbers && !may_become_zero(one.tensor->name) && ++fallen == 1)
      first = cat(one.file->path, ": all ", one.tensor->numbers, " numbers of ", one.tensor->name);
  }
  const std::string since = cat("in the save of step ", before.step);
  if (fallen > 0)
    return {cat(first, " are zero, and were not ", since,
                fallen == 1 ? "" : cat(" (", fallen - 1, fallen == 2 ? " more tensor" : " more tensors", " likewise)")),
            true};
  if (weights.all == 0) return {};
  if (weights.still == weights.all) {
    if (trained < kTrained) return {};
    return {cat("every byte of its ", weights.all, weights.all == 1 ? " weight is" : " weights is", " as ", since,
                ", though ", trained, " steps were trained at a learning rate above 0"),
            false};
  }
  if (moments.all == 0) return {};
  if (moments.zero == moments.all)
    return {cat("all ", moments.all, " moments of its optimizer are zero, though its weights changed since step ",
                before.step),
            false};
  if (moments.still == moments.all)
    return {cat("all ", moments.all, " moments of its optimizer are as ", since, ", though its weights changed"),
            false};
  return {};
}

}  // namespace mw
