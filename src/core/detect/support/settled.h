// Whether a failure that the text reports has really ended the run. While a run goes on, "no step was done after it"
// is true of every line for a while: a printed sample, a request that is tried again, a helper that is replaced.
#pragma once

#include <string_view>

#include "core/detect/support/failure_chain.h"

namespace mw::detect {

/// Will nothing more come of this attempt? True when the run's files have ended, another attempt began, or its process
/// is known to have ended.
bool is_over(const State& state, uint16_t attempt);

/// True when the attempt is over, or has done nothing for so long, by the clock of the watch, that it should have:
/// three usual steps and its longest one so far, at least 30 s, at most 30 min. Where its steps have no known rhythm,
/// as at the start, its logs must have said nothing for 60 s, or 30 min must have passed. An error of which a process
/// does not die for sure is given as long as a stall: 30 min, or ten usual steps.
bool settled(const State& state, const FailureChain& chain);

/// Has a failure that ends no process for sure, and is not settled, gone on for so long that somebody should look: it
/// came at least ten times, and by the clock of the watch no step has come for two minutes and for longer than any step
/// so far took.
bool lasts(const State& state, const FailureChain& chain);

/// The severity of a failure that is not settled, and what is said of it beside what was seen.
Severity provisional_severity(const FailureChain& chain);

/// Of a failure that is settled: of a start that another one followed in the same log, which got further, a warning.
Severity settled_severity(const FailureChain& chain);
inline constexpr std::string_view kNotSettled = "; whether the run survives it is not known yet";
inline constexpr std::string_view kReplaced = "; a later start in the same log got further";

}  // namespace mw::detect
