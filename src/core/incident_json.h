// Incidents as JSON: the items of "incidents" in docs/formats/replay-json.md, which the journal keeps, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "core/incident.h"
#include "core/state.h"

namespace mw {

/// The reason in IncidentClosed when later evidence took the incident back: it is as if it had never been opened.
constexpr std::string_view kWithdrawn = "withdrawn";

/// Writes one incident for people and programs: sources by their path (as opened) and, in "source_number", by their
/// number; what its processes did, where that was collected.
void write_incident(JsonWriter& out, const Incident& incident, const State& state);
std::string shown_incident_json(const Incident& incident, const State& state);

/// As the journal keeps it: the incident alone.
std::string incident_json(const Incident& incident, const State& state);

/// The inverse, as far as JSON has it. nullopt when `json` is not an incident.
std::optional<Incident> incident_from_json(std::string_view json, const State& state);

}  // namespace mw
