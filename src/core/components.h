// The parts of a run (engines, servers, Ray) as a live watch sees them. A part of fold().
#pragma once

#include "core/state.h"

namespace mw {

/// Does it do its work? What is only starting is no trouble.
constexpr bool in_trouble(event::ComponentSaw::Health health) {
  return health != event::ComponentSaw::Health::kWell && health != event::ComponentSaw::Health::kStarting;
}

/// Adds to State::components what was seen of one.
void add_component(State& state, const event::ComponentSaw& saw, const Moment& moment);

}  // namespace mw
