// What stood still, or fell to zero, between two checkpoints that were read to their last byte, by what their manifests
// remember of each tensor: neither is read again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sense/checkpoints/manifest.h"

namespace mw {

struct StoodStill {
  std::string what;     ///< one sentence; "": nothing
  bool breaks = false;  ///< it is no checkpoint to resume from
};

/// `trained`: steps between the two that were trained at a learning rate above 0.
///
/// Breaks: all numbers of a weight are zero, and were not before (buffers, masks and what LoRA begins with may be).
/// Else worth knowing: every weight is byte for byte what it was, though kTrained steps or more were trained; every
/// moment of the optimizer is, or is zero, though weights changed. One tensor that stands still says nothing: layers,
/// embeddings and the weights below an adapter are frozen on purpose.
StoodStill stood_still(const CheckpointManifest& before, const std::vector<ManifestFile>& after, int64_t trained);

/// Two: the first rate that is logged may be that of the step after.
constexpr int64_t kTrained = 2;

}  // namespace mw
