// The components of a run (engines, servers, Ray) as a live watch sees them.
#pragma once

#include "core/knowledge.h"
#include "core/state.h"

namespace mw {

/// Does it do its work? What is only starting is no trouble.
constexpr bool in_trouble(event::ComponentSaw::Health health) {
  return health != event::ComponentSaw::Health::kWell && health != event::ComponentSaw::Health::kStarting;
}

/// Nobody has answered at its address since the run began, and should have by now: the address may be wrong as well as
/// the server dead, so that it is no trouble either.
inline bool never_answered(const event::ComponentSaw& saw) {
  return saw.health == event::ComponentSaw::Health::kStarting && saw.certain;
}

/// A process of the run that somebody has stopped (SIGSTOP, a debugger) in the attempt that runs now, so that no step
/// was done since; nullptr when there is none. It is no failure: midwatch ends nothing for it.
const ComponentState* stopped_by_somebody(const State& state);
/// When one of those was last continued, by the clock of the watch; unknown when none was.
Time last_continued(const State& state);

/// Does a match of it say that a server was not reached, or failed?
inline bool speaks_of_servers(const Signature& signature) {
  return (signature.kind == "network" || signature.kind == "engine-dead") && signature.role != Role::kBenign;
}

/// Do others of its kind and name, but for the number in it ("VLLM::Engine_2"), serve in the same attempt? One of
/// several engines may be taken away on purpose.
bool others_serve(const State& state, const ComponentState& component);

/// Adds to State::components what was seen of one. Called by fold() only.
void add_component(State& state, const event::ComponentSaw& saw, const Moment& moment);

}  // namespace mw
