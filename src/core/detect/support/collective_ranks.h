// Which rank a collective waited for: the watchdogs of the ranks that did wait say where each of them is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/state.h"

namespace mw::detect {

/// What the flight recorders' dumps of one attempt say of it, each of which is a line "Flight recorder of rank 3: group
/// 0 has done 411 of 412 (ALLREDUCE started); …": "rank 5 did not come to ALLREDUCE 412 (group 0), for which ranks 0 to
/// 4 wait". Empty when they do not tell.
std::string missing_in_dumps(const State& state, uint16_t attempt);

/// What the watchdogs' lines of one attempt say of the rank that did not come: "rank 5 is behind: at work 410, the
/// others at 412", or "rank 6 says nothing, ranks 0 to 5 and 7 wait in ALLREDUCE". What the dumps say comes first.
/// Empty when they do not tell. Ranks and numbers are those of the process group that most of them speak of.
std::string missing_ranks(const State& state, uint16_t attempt);

/// "rank 6", "ranks 0 to 5 and 7".
std::string listed_ranks(const std::vector<int64_t>& ranks);

}  // namespace mw::detect
