// What a decision between two attempts rests on, as JSON: in the journal (event::Decided::facts) and in the attempt's
// folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "core/supervise/policy.h"

namespace mw {

/// Writes the members of `of` into an object that is open.
void write_outcome(JsonWriter& json, const AttemptOutcome& of);
/// What is missing keeps its default.
AttemptOutcome read_outcome(const Json& json);

/// What core/supervise/policy.h was asked, and what it said.
struct DecisionFacts {
  AttemptOutcome outcome;  ///< of the attempt that ended; those before it have their own
  RestartLimits limits;
  RestartDecision decision;
};
std::string facts_json(const DecisionFacts& facts);
/// nullopt when `json` is none.
std::optional<DecisionFacts> facts_from_json(std::string_view json);

}  // namespace mw
