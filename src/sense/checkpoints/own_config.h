// What settings beside weights say of them, and they contradict.
#pragma once

#include "sense/checkpoints/examination.h"

namespace mw {

/// `config`: any file. Of a config.json: a whole model in the layout of transformers (an embedding, a norm or a head at
/// its end) has fewer layers than it states; of an adapter_config.json: no tensor of the adapter has the rank that it
/// states for all. Both are suspect: what loads them fills in random numbers, or fails.
void look_at_own_config(Examination& exam, const TreeFile& config);

}  // namespace mw
