// Files of torch.distributed.checkpoint that have steps of different numbers.
#pragma once

#include <string>
#include <vector>

#include "sense/checkpoints/examination.h"

namespace mw {

/// Compares the optimizer's counters of the files of each folder, after the layouts were examined and every byte was
/// read. A file that counts another step than most speaks against the checkpoint where one of `beside` shows that it is
/// not always so far behind, or where it was written apart from all others; else it is worth knowing only.
void look_at_distributed_steps(Examination& exam, const std::vector<std::string>& beside);

}  // namespace mw
