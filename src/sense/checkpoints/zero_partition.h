// DeepSpeed's ranks: is the part of the weights that one of them keeps zero throughout?
#pragma once

#include <vector>

#include "sense/checkpoints/examination.h"
#include "sense/checkpoints/manifest.h"

namespace mw {

/// `hashed`: every file, as it was read. A part of zeros whose moments are none was trained once, and is lost: a resume
/// takes the weights from there, in stage 3 and where it steps for the first time in 1 and 2.
void look_for_zero_partitions(Examination& exam, const std::vector<ManifestFile>& hashed);

}  // namespace mw
