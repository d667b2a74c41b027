// What stood still between two checkpoints while the weights were trained.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sense/checkpoints/tensor_diff.h"

namespace mw {

enum class TensorPart : uint8_t { kWeight, kMoment, kCounter, kOther };
/// By the names that torch.optim and those who save it give; `name`: with the file's path before it.
TensorPart part_of(std::string_view name, Dtype dtype);

/// Sentences on an optimizer whose counters or moments are the same in both, all or some, though weights changed: its
/// state is another save's, or what it belongs to got no gradient; and on a single weight that did not change while all
/// others did, which may be meant so. Where no weight changed, whether moments did.
std::vector<std::string> frozen_notes(const TensorsDiff& diff);

}  // namespace mw
