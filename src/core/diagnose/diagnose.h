// Incidents → ranked causes with evidence for and against, and what midwatch would do about it.
#pragma once

#include <vector>

#include "core/incident.h"
#include "core/knowledge.h"
#include "core/state.h"

namespace mw::diagnose {

/// One piece of evidence for a cause: how strongly it speaks for it (0..1), in words.
using Suggestion = Finding::Suggestion;

/// Ranks the causes of `incident` from what its findings suggested, best first, at most kCausesShown.
///
/// Score of a cause = (1 - Π(1 - w)) · Π(1 - a): a noisy-or over its prior and its pieces of evidence with weights w
/// (Pearl 1988, "Probabilistic Reasoning in Intelligent Systems", §4.3), times what each argument against leaves of it.
/// That no error was seen is never an argument against (failure catalogue, matching rule 8).
std::vector<RankedCause> rank_causes(const Incident& incident, const std::vector<Suggestion>& suggestions,
                                     const std::vector<Incident>& all, const State& state, const Knowledge& knowledge);
constexpr size_t kCausesShown = 5;

/// The reaction that fits the leading cause, held to the rules of when each reaction is safe (failure catalogue, "When
/// each reaction is safe"): what needs a checkpoint becomes a notice when none is known.
std::string reaction_for(const Incident& incident, uint64_t times, const State& state, const Knowledge& knowledge);

/// Arguments for and against a cause that distinguish it from a similar one.
struct Argument {
  std::string cause;
  double weight = 0;  ///< > 0 for, < 0 against
  std::string reason;
};
std::vector<Argument> weigh_lookalikes(const Incident& incident, const std::vector<Suggestion>& suggestions,
                                       const std::vector<Incident>& all, const State& state,
                                       const Knowledge& knowledge);

}  // namespace mw::diagnose
