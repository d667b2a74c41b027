#include "sense/checkpoints/stood_still.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"
#include "sense/checkpoints/file_role.h"
#include "sense/checkpoints/frozen.h"
#include "sense/checkpoints/role_weights.h"
#include "sense/checkpoints/zero_tail.h"

namespace mw {
namespace {

constexpr int64_t kLostBytes = 64 << 10;  // of zeros in whole pages of one tensor: rows of fewer may be given up

struct Tensor {
  const ManifestFile* file = nullptr;
  const ManifestTensor* tensor = nullptr;
};
/// The tensors of the model and of its optimizer, by file and name; of several of one name in a file the number, too.
using Tensors = std::map<std::pair<std::string, size_t>, Tensor>;

Tensors tensors_of(const std::vector<ManifestFile>& files) {
  Tensors out;
  for (const ManifestFile& file : files) {
    if (role_of(basename(file.path)) == FileRole::kSettings) continue;  // a chunk of zarr has no ending
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

/// What of a weight was not zero before, and is now.
struct Fall {
  bool all = false;
  uint64_t zeros = 0;  ///< bytes, in whole pages, where it is not all
};
/// Those that fell in part, among the same tensors of all layers.
struct Holes {
  size_t weights = 0, count = 0;
  std::pair<Tensor, Fall> first;
};
std::optional<Fall> fall_of(const ManifestTensor& was, const ManifestTensor& now) {
  if (now.numbers < kFewNumbers || was.numbers != now.numbers || may_become_zero(now.name)) return std::nullopt;
  if (now.zero) return was.zero ? std::nullopt : std::optional(Fall{true, 0});
  if (was.zero_bytes < 0 || now.zero_bytes < was.zero_bytes + kLostBytes) return std::nullopt;
  return Fall{false, static_cast<uint64_t>(now.zero_bytes - was.zero_bytes)};
}

}  // namespace

FellToZero fell_to_zero(const CheckpointManifest& before, const std::vector<ManifestFile>& after) {
  const Tensors was = tensors_of(before.files), now = tensors_of(after);
  size_t all = 0;
  std::pair<Tensor, Fall> first_all;
  std::map<std::string, Holes> holes;  // by what tensors of all layers have in common
  for (const auto& [key, one] : now) {
    if (part_of(key.first, Dtype::kF32) != TensorPart::kWeight) continue;
    Holes& family = holes[family_of(one.tensor->name)];
    ++family.weights;
    const auto then = was.find(key);
    const auto fall = then == was.end() ? std::nullopt : fall_of(*then->second.tensor, *one.tensor);
    if (!fall) continue;
    if (fall->all && ++all == 1) first_all = {one, *fall};
    if (!fall->all && ++family.count == 1) family.first = {one, *fall};
  }
  const std::string since = cat("in the save of step ", before.step);
  if (all > 0) {
    const auto& [tensor, fall] = first_all;
    return {tensor.file->path,
            cat("all ", tensor.tensor->numbers, " numbers of ", tensor.tensor->name, " are zero, and were not ", since,
                all == 1 ? "" : cat(" (", all - 1, all == 2 ? " more tensor" : " more tensors", " likewise)"))};
  }
  for (const auto& [family, of] : holes) {
    if (of.count == 0 || (of.weights > 1 && of.count * 2 > of.weights)) continue;
    const auto& [tensor, fall] = of.first;
    return {tensor.file->path, cat(format_bytes(static_cast<double>(fall.zeros)), " of ", tensor.tensor->name,
                                   " are zeros in whole pages, and were not ", since)};
  }
  return {};
}

namespace {

/// Of what both have: how much there is, and stood still.
struct Counts {
  Count weights, moments;
  /// No step changed the weights, and steps of its own optimizer were made.
  bool stands_still() const { return weights.all > 0 && weights.still == weights.all && moments.still < moments.all; }
};
/// `roles`: of each folder of a role by itself, too.
Counts counts_of(const CheckpointManifest& before, const std::vector<ManifestFile>& after,
                 std::map<std::string_view, Counts>* roles = nullptr) {
  const Tensors was = tensors_of(before.files), now = tensors_of(after);
  Counts out;
  for (const auto& [key, one] : now) {
    const auto then = was.find(key);
    if (then == was.end() || then->second.tensor->numbers != one.tensor->numbers) continue;
    const TensorPart part = part_of(key.first, Dtype::kF32);
    const bool zero = one.tensor->zero, still = is_same(then->second, one);
    if (part != TensorPart::kWeight && part != TensorPart::kMoment) continue;
    const auto add = [&](Counts& counts) {
      Count& count = part == TensorPart::kWeight ? counts.weights : counts.moments;
      ++count.all;
      count.still += still ? 1 : 0;
      count.zero += zero ? 1 : 0;
    };
    add(out);
    if (roles != nullptr) add((*roles)[role_in(one.file->path)]);
  }
  return out;
}

/// Of several roles the one whose weights stand still while its optimizer moves; an actor that waits for its critic has
/// an optimizer that waits, too. Of a critic the logged learning rate says nothing. "" where there is none.
std::string_view still_role(const std::map<std::string_view, Counts>& roles) {
  const auto still = std::find_if(roles.begin(), roles.end(),
                                  [](const auto& one) { return one.first != "critic" && one.second.stands_still(); });
  return still == roles.end() ? std::string_view() : still->first;
}

std::string all_weights_of(std::string_view role, const Count& weights) {
  return cat("every byte of ", role.empty() ? "its " : cat("the ", role, "'s "), weights.all,
             weights.all == 1 ? " weight is" : " weights is", " as in the save of step ");
}

}  // namespace

std::string weights_stood_still(const CheckpointManifest& before, const std::vector<ManifestFile>& after) {
  std::map<std::string_view, Counts> roles;
  const Counts all = counts_of(before, after, &roles);
  const std::string_view role = all.stands_still() ? std::string_view() : still_role(roles);
  if (!all.stands_still() && role.empty()) return "";
  return cat(all_weights_of(role, role.empty() ? all.weights : roles[role].weights), before.step,
             ", though moments of its optimizer changed: no step changes the weights, or they are that save's");
}

std::string moments_stood_still(const CheckpointManifest& before, const std::vector<ManifestFile>& after) {
  const auto [weights, moments] = counts_of(before, after);
  const bool still = moments.all > 0 && moments.still == moments.all && moments.zero < moments.all;
  if (!still || weights.still == weights.all) return "";
  return cat("all ", moments.all, " moments of its optimizer are as in the save of step ", before.step,
             ", though its weights changed: its state is that save's, or no gradient reached it");
}

std::string moments_without_steps(const CheckpointManifest& before, const std::vector<ManifestFile>& after) {
  const Count weights = counts_of(before, after).weights;
  return weights.still == weights.all ? "" : cat("though its weights changed since step ", before.step);
}

StoodStill stood_still(const CheckpointManifest& before, const std::vector<ManifestFile>& after, int64_t trained) {
  std::map<std::string_view, Counts> roles;
  const auto [weights, moments] = counts_of(before, after, &roles);
  if (const FellToZero fell = fell_to_zero(before, after); !fell.what.empty())
    return {cat(fell.path, ": ", fell.what), true};
  const std::string since = cat("in the save of step ", before.step);
  if (weights.all == 0) return {};
  if (weights.still == weights.all) {
    if (trained < kTrained) return {};
    return {cat(all_weights_of("", weights), before.step, ", though ", trained,
                " steps were trained at a learning rate above 0"),
            false};
  }
  if (const std::string_view role = still_role(roles); !role.empty() && trained >= kTrained)
    return {
        cat(all_weights_of(role, roles[role].weights), before.step, ", though moments of its optimizer changed and ",
            trained, " steps were trained at a learning rate above 0"),
        false};
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
