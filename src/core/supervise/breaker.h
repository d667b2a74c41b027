// The circuit breaker: when an attempt that still runs should be ended, as it trains on poisoned data. Pure.
#pragma once

#include <string_view>

#include "core/state.h"

namespace mw {

/// What the case for ending an attempt rests on. Each has a mode of its own in [actions].
enum class BreakReason {
  kDeadComponent,  ///< a component that the run needs is proven dead, and the trainer goes on without it
  kLearning,       ///< the figures are poisoned: they stayed so over completed steps, or two kinds of evidence agree
  kRule,           ///< a rule of the user's own says so
  kHang,           ///< nothing is done any more: no step, no line, and no component is known to be the reason
  kFromScratch,    ///< it began from nothing although an earlier attempt saved a checkpoint, and would write over it
};
std::string_view break_reason_name(BreakReason why);

struct BreakCase {
  const Incident* incident = nullptr;  ///< nullptr: there is no case; lives as long as the state it was found in
  BreakReason why = BreakReason::kLearning;
};

/// Is the attempt about to save a checkpoint? By the rhythm of those that it saved: with its next step or the one
/// after. False where it has saved none, or is not known to.
bool save_is_due(const State& state);

/// Does the newest reward of the attempt that runs now lie above the floor that rewards may lie on?
bool has_left_floor(const State& state);

/// The case for ending the attempt that runs now, as every further step trains on poisoned data and every further
/// checkpoint keeps it; no incident when there is none. `from_scratch`: beginning from nothing is allowed.
BreakCase breaker(const State& state, bool from_scratch = false);

/// Of an attempt that has ended: the incident since whose onset its checkpoints are tainted; nullptr when there is
/// none. Little is lost by not resuming from them, so this needs less than the breaker does: it trips, or would have,
/// as a critical incident of that attempt says that an engine is dead, rewards are at their floor or figures are no
/// numbers.
const Incident* tainted_by(const State& state, bool from_scratch = false);

}  // namespace mw
