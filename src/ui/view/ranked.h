// Incidents as a person reads them: the most consequential first, nothing said twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/state.h"

namespace mw {

/// Is the incident history: a later attempt came further than the one that it befell, or did steps and nothing
/// stands against it, and the incident is an end of its attempt alone?
bool overtaken(const State& state, const Incident& incident);

/// Does `a` matter more than `b`? What stands open, what is worse, what befell the latest attempt, what ends runs or
/// spoils what is learnt, and last what came first.
bool matters_more(const State& state, const Incident& a, const Incident& b);

/// Those above info, the most consequential first.
std::vector<const Incident*> ranked_incidents(const State& state);

/// What `midwatch run` does about it with its default settings, in words: "restart the run from its last checkpoint",
/// "notify; the run goes on". Of the catalogue's reaction only what it does by itself: no attempt that goes on is ended
/// but by the circuit breaker.
std::string_view reaction_text(const Incident& incident);

struct Reaction {
  bool decided = false;  ///< by the midwatch that supervised the run, when the attempt was over
  std::string text;
};
/// In a supervised run, what was decided on it; else reaction_text(), as far as the run's history does not say more.
Reaction reaction_to(const State& state, const Incident& incident);

/// Evidence that says what the summary does not.
std::vector<const Evidence*> fresh_evidence(const Incident& incident);

/// Reasons that quote nothing which the evidence shows: "seen: X" where X is quoted above says nothing new.
std::vector<std::string> fresh_reasons(const Incident& incident, const std::vector<std::string>& reasons);

/// Causes worth a line: the first, and those for or against which something speaks.
std::vector<const RankedCause*> shown_causes(const Incident& incident, size_t most);

}  // namespace mw
