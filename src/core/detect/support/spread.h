// How far apart the rewards of a step lie, and in which steps they are all the same.
#pragma once

#include <cstddef>
#include <optional>

#include "core/detect/tools/track.h"

namespace mw::detect {

/// The spread of a step as the distance of its largest from its smallest value; 0 where they are equal.
Track spread_of(const Track& most, const Track& least);

/// Of each step whether all was equal in it: 1 or 0.
Track uniform_in(Track spread);

/// A record of several steps is without a spread only where all of them are: the share of such steps that the last
/// `width` records speak for, by the share of such records.
Track uniform_steps(const Track& spread, double steps, size_t width);

/// Did the rewards within groups differ in those steps of one attempt? By the share of groups in which they do not,
/// else by their spread or that of the advantages. nullopt: the run does not say.
std::optional<bool> rewards_differ(const State& state, uint16_t attempt, int64_t from, int64_t to);

}  // namespace mw::detect
