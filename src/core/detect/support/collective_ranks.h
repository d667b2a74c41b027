// Which rank a collective waited for: the watchdogs of the ranks that did wait say where each of them is.
#pragma once

#include <cstdint>
#include <string>

#include "core/state.h"

namespace mw::detect {

/// What the watchdogs' lines of one attempt say of the rank that did not come: "rank 5 is behind: at work 410, the
/// others at 412", or "rank 6 says nothing, ranks 0 to 5 and 7 wait in ALLREDUCE". Empty when they do not tell. Ranks
/// and numbers are those of the process group that most of them speak of.
std::string missing_ranks(const State& state, uint16_t attempt);

}  // namespace mw::detect
