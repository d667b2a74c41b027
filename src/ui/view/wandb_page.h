// Where a run is shown by W&B.
#pragma once

#include <string>

#include "core/state.h"

namespace mw {

/// The address of its page, as the log states it or as its W&B file names the run; "" when neither does. It holds
/// letters, digits and "-_.:/" only.
std::string wandb_page(const State& state);

}  // namespace mw
