// What `run` and `attach` print of incidents while they watch.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ui/cli/verb.h"

namespace mw {

class ShownIncidents {
 public:
  /// Incidents below `least` are not shown.
  ShownIncidents(const Console& console, Severity least) : console_(console), least_(least) {}
  /// For the terminal, "" when there is nothing to show: an incident that opens, one that becomes graver than it was
  /// shown, and one that is over.
  std::string text(const State& state, const Event& event);

 private:
  std::string graver(const State& state, uint32_t id);
  const Console& console_;
  Severity least_;
  std::map<uint32_t, Severity> shown_;
};

}  // namespace mw
