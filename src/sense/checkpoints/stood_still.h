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

/// Weights that were not zero before and are now.
struct FellToZero {
  std::string path;  ///< of the first one's file
  std::string what;  ///< one sentence, without it; "": none
};
/// All numbers of a weight of kFewNumbers or more, or 64 KiB of it or more in whole pages, where both manifests know of
/// them, and not in more than half of the weights of that name in all layers: so a model is pruned. Not what may become
/// zero by its name (zero_tail.h), nor what was zero before.
FellToZero fell_to_zero(const CheckpointManifest& before, const std::vector<ManifestFile>& after);

/// One sentence where every weight is byte for byte what it was, and moments of the optimizer are not: a policy that no
/// step changes, or another save's weights. "": it is not so, or nothing is remembered of moments.
std::string weights_stood_still(const CheckpointManifest& before, const std::vector<ManifestFile>& after);

/// One sentence where weights changed, and every moment of the optimizer, not all of them zero, is byte for byte what
/// it was: its state is that save's. "": it is not so.
std::string moments_stood_still(const CheckpointManifest& before, const std::vector<ManifestFile>& after);

/// Where weights changed since: "though its weights changed since step 10"; else "".
std::string moments_without_steps(const CheckpointManifest& before, const std::vector<ManifestFile>& after);

/// `trained`: steps between the two that were trained at a learning rate above 0.
///
/// Breaks: what fell to zero.
/// Else worth knowing: every weight is byte for byte what it was, though kTrained steps or more were trained; every
/// moment of the optimizer is, or is zero, though weights changed. One tensor that stands still says nothing: layers,
/// embeddings and the weights below an adapter are frozen on purpose.
StoodStill stood_still(const CheckpointManifest& before, const std::vector<ManifestFile>& after, int64_t trained);

/// Two: the first rate that is logged may be that of the step after.
constexpr int64_t kTrained = 2;

}  // namespace mw
