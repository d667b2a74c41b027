#include "sense/checkpoints/frozen.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"
#include "sense/checkpoints/content_kind.h"

namespace mw {
namespace {

constexpr size_t kManyWeights = 8;  // of which one that stands still is worth a word
constexpr size_t kNameShown = 200;

/// How many of one part there are, and which stood still.
struct Count {
  size_t all = 0, still = 0;
  std::string first;
  void add(const TensorDifference& tensor) {
    ++all;
    if (tensor.change.changed > 0) return;
    if (++still == 1) first = clip(sanitize_utf8(tensor.name), kNameShown);
  }
};

std::string optimizer_note(const Count& moments) {
  if (moments.still == moments.all)
    return cat(
        "none of the ", moments.all,
        " moments of the optimizer changed, though weights did: its state is of another save, or it stands still");
  return cat(moments.still, " of the ", moments.all,
             " moments of the optimizer did not change, though weights did (first ", moments.first,
             "): what they belong to gets no gradient, or that part is of another save");
}

}  // namespace

TensorPart part_of(std::string_view name, Dtype dtype) {
  // Megatron's rank has both in one file, whose name speaks of the optimizer.
  constexpr std::string_view kBoth = "model_optim_rng.pt:";
  if (const size_t both = name.find(kBoth); both != std::string_view::npos) name.remove_prefix(both + kBoth.size());
  constexpr std::array<std::string_view, 2> kMoments = {"exp_avg", "momentum_buffer"};
  const bool moment = std::any_of(kMoments.begin(), kMoments.end(), [name](auto mark) { return contains(name, mark); });
  if (moment) return TensorPart::kMoment;
  const size_t file = name.rfind(':');
  if (is_partition(name.substr(file == std::string_view::npos ? 0 : file + 1)))
    return has_point(dtype) ? TensorPart::kWeight : TensorPart::kOther;
  if (contains(name, "optim"))
    return name.ends_with(".step") || name.ends_with(":step") ? TensorPart::kCounter : TensorPart::kOther;
  return has_point(dtype) ? TensorPart::kWeight : TensorPart::kOther;
}

std::vector<std::string> frozen_notes(const TensorsDiff& diff) {
  Count weights, moments, counters;
  for (const TensorDifference& tensor : diff.tensors) {
    if (!tensor.compared || tensor.figures[0].numbers == 0) continue;
    const TensorPart part = part_of(tensor.name, tensor.dtype[0]);
    if (part == TensorPart::kCounter) counters.add(tensor);
    // What is all zero in both has not begun: a LoRA's second matrix, a bias, a moment without a gradient.
    if (tensor.figures[0].squares == 0 && tensor.change.changed == 0) continue;
    if (part == TensorPart::kWeight) weights.add(tensor);
    if (part == TensorPart::kMoment) moments.add(tensor);
  }
  std::vector<std::string> notes;
  if (weights.still == weights.all) {
    if (weights.all > 0 && moments.still < moments.all)
      notes.emplace_back(
          "no weight changed, though moments of the optimizer did: no step changes the weights, or they are another "
          "save's");
    return notes;
  }
  if (moments.still > 0) notes.push_back(optimizer_note(moments));
  if (counters.all > 0 && counters.still == counters.all)
    notes.emplace_back("the optimizer counts the same step in both, though weights changed");
  if (weights.all >= kManyWeights && weights.still == 1)
    notes.push_back(cat(weights.first, " did not change, though all other ", weights.all - 1,
                        " weights did; it may be frozen on purpose"));
  return notes;
}

}  // namespace mw
