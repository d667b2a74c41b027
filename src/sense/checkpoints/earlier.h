// A checkpoint against what an earlier verification recorded of it: sizes, times and checksums.
#pragma once

#include <vector>

#include "sense/checkpoints/examination.h"
#include "sense/checkpoints/manifest.h"

namespace mw {

/// Puts what differs into the examination. `hashed`: what was read of it now; none without --deep. `others`: of
/// checkpoints beside it, whose bytes a changed file may have. False where it was saved anew since: then nothing was
/// compared, which is noted.
bool compare_with_earlier(Examination& exam, const CheckpointManifest& earlier, const std::vector<ManifestFile>& hashed,
                          const std::vector<const CheckpointManifest*>& others);

}  // namespace mw
