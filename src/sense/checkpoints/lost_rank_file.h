// Files of ranks whose names do not say how many ranks there are (accelerate's "pytorch_model_fsdp_rank1.bin", SkyRL's
// "adapter_tp0_pp0_cp0_dp1_ep0_etp0.pt"): each process loads its own and ends without it.
#pragma once

#include <string>

#include "sense/checkpoints/examination.h"

namespace mw {

/// Reports those that the checkpoint `other` has and this one has not: missing where other files here show that as many
/// ranks saved; else worth knowing, as fewer may have.
void look_for_lost_rank_files(Examination& exam, const std::string& other);

}  // namespace mw
