// How far a run has come for sure: what lies beyond is not its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/state.h"

namespace mw {

struct Reach {
  int64_t named = kNoStep;   ///< the furthest step that its records, bars, resumes and logged saves name
  int64_t beyond = kNoStep;  ///< no save of its own lies further; kNoStep: that is not known
  bool names_saves = false;  ///< its log names its saves, and counts them as it counts its steps
};

/// Of the attempts before number `end`, counted from 0. What a trainer had not written out is lost where a signal ended
/// it, so that `beyond` is known only where the last of them ended by itself: with status 0, or with an exception of
/// its own behind its last record. It lies two of the widest gaps between its records further than `named`, as trainers
/// log one step in many, and save before they log.
Reach reach_before(const State& state, size_t end);

}  // namespace mw
