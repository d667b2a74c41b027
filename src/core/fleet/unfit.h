// Whether a run that is over ended by a fault of its machine, so that it may go on elsewhere.
#pragma once

#include <string>

#include "base/text.h"
#include "core/state.h"

namespace mw::fleet {

/// What ended the last attempt and is the machine's own fault: its disk is full, a GPU is broken. "": nothing that is
/// known. Asked only of a run that is over and was not brought to its end: while it goes on, no such thing ends it.
inline std::string unfit_by(const State& state) {
  const size_t last = state.attempts.empty() ? 0 : state.attempts.size() - 1;
  for (const Incident& incident : state.incidents) {
    const bool machine = incident.kind == "gpu-fault" || incident.kind == "disk-full";
    if (!machine || incident.severity != Severity::kCritical || incident.latest.attempt != last) continue;
    return cat(incident.kind, ": ", incident.summary);
  }
  return "";
}

}  // namespace mw::fleet
