// Is it a checkpoint of the model that its own settings, and the checkpoints beside it, are of? Each file may be sound
// by itself, and be another model's; and all numbers may be finite, and the weights have blown up.
#pragma once

#include <string>
#include <vector>

#include "sense/checkpoints/examination.h"
#include "sense/checkpoints/manifest.h"

namespace mw {

/// Of safetensors, and of whole models by torch.save: no tensor has the size that config.json beside it says (suspect).
/// Of these, of ranks' weights by torch.save, and of what a .metadata of torch.distributed.checkpoint lists: tensors
/// have another shape or type than in the checkpoints beside it (where torch writes them, matrices of real numbers).
/// That is suspect only where one before and one after agree: a run may have been begun anew with another adapter. So
/// is a weight that both have and this one has not. Of zarr, where each tensor is a folder, it is missing (partial),
/// also where there is only one before it and nothing else came or went. `beside`: the nearest first.
void look_at_shapes(Examination& exam, const std::vector<std::string>& beside);

/// Weights of which the norm is ten times what it was in the nearest checkpoint before it that was found whole, or a
/// tenth: no training does that between two saves and goes on well; and weights that fell to zero since
/// (stood_still.h). `hashed`: of a deep check.
void look_at_norms(Examination& exam, const std::vector<ManifestFile>& hashed,
                   const std::vector<const CheckpointManifest*>& others);

}  // namespace mw
