// Whether a mean over tasks, domains or environments moved because their shares in it changed.
#pragma once

#include <string>

#include "core/detect/tools/track.h"

namespace mw::detect {

/// "each of reward/easy, reward/hard held meanwhile: their shares in the mean changed", where the run logs the figures
/// that the falling mean is one of, and none of them has fallen with it; "" where it is otherwise. `onset`: index at
/// which the fall began.
std::string mixture_changed(const State& state, const Track& track, size_t onset);

}  // namespace mw::detect
