// The part of the weights that a rank keeps, of DeepSpeed and of FSDP: is one zero throughout, or of another size than
// those of the other ranks?
#pragma once

#include <vector>

#include "sense/checkpoints/examination.h"
#include "sense/checkpoints/manifest.h"

namespace mw {

struct WeightFigures {
  uint64_t numbers = 0;
  double norm = 0;  ///< L2
};
/// Of the weights in a file of DeepSpeed's optimizer, without its moments.
WeightFigures partition_figures(const ManifestFile& file);

/// `hashed`: every file, as it was read. A part of zeros whose moments are none was trained once, and is lost: a resume
/// takes the weights from there, in stage 3 and where it steps for the first time in 1 and 2. Where each rank has a
/// piece of every weight (FSDP, stage 3), one ten times as large as the others, or a tenth, is none of this model's.
void look_for_zero_partitions(Examination& exam, const std::vector<ManifestFile>& hashed);

}  // namespace mw
