// Files of two ranks with the same bytes: each holds a part of its own, so one was copied over the other.
#pragma once

#include <vector>

#include "sense/checkpoints/examination.h"
#include "sense/checkpoints/manifest.h"

namespace mw {

/// `hashed`: of a deep check. Of FSDP's models and optimizers, and of ZeRO's optimizers, two that are equal where
/// others are not (where each has an equal one, each part may be kept several times on purpose); of Megatron's tensor
/// ranks any two that hold a matrix: they split it. Files without a number that is not zero count for nothing.
void look_for_equal_ranks(Examination& exam, const std::vector<ManifestFile>& hashed);

}  // namespace mw
