// A reward that only punishes, and no longer does.
#pragma once

#include "core/detect/tools/track.h"

namespace mw::detect {

/// Such a reward has nothing to show that all went well: 0 may be an answer that was never tried. It was tried where
/// the answers from `from` to `to` are as long as before, and learned where the last rewards before lay above this
/// share of the reward's scale.
bool learned_to_avoid(const State& state, const Track& reward, const RewardScale& scale, const Point& from,
                      const Point& to, double share);

}  // namespace mw::detect
