// What stood still between two checkpoints while the weights were trained.
#pragma once

#include <string>
#include <vector>

#include "sense/checkpoints/tensor_diff.h"

namespace mw {

/// Sentences on an optimizer whose counters or moments are the same in both, all or some, though weights changed: its
/// state is another save's, or what it belongs to got no gradient; and on a single weight that did not change while all
/// others did, which may be meant so. Nothing where no weight changed.
std::vector<std::string> frozen_notes(const TensorsDiff& diff);

}  // namespace mw
