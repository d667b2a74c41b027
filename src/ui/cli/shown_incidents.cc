#include "ui/cli/shown_incidents.h"

#include "base/text.h"
#include "ui/report/terminal.h"

namespace mw {

std::string ShownIncidents::graver(const State& state, uint32_t id) {
  for (const Incident& incident : state.incidents) {
    if (incident.id != id || incident.severity < least_) continue;
    const auto known = shown_.find(id);
    if (known != shown_.end() && incident.severity <= known->second) continue;
    shown_[id] = incident.severity;
    return terminal_incident(state, incident, console_);
  }
  return "";
}

std::string ShownIncidents::text(const State& state, const Event& event) {
  if (const auto* opened = std::get_if<event::IncidentOpened>(&event.body)) return graver(state, opened->id);
  if (const auto* changed = std::get_if<event::IncidentChanged>(&event.body)) return graver(state, changed->id);
  const auto* closed = std::get_if<event::IncidentClosed>(&event.body);
  if (closed == nullptr || shown_.erase(closed->id) == 0) return "";
  return cat("#", closed->id, " is over: ", escape_terminal(closed->why), "\n");
}

}  // namespace mw
