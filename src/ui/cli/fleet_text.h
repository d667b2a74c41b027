// What `midwatch fleet` prints.
#pragma once

#include <string>

#include "api/fleet.h"
#include "ui/cli/verb.h"

namespace mw {

/// How the run stands, why, on which machine, what it has cost; foreign text is escaped, and lines fit the terminal.
std::string fleet_text(const FleetAnswer& answer, const Console& console);
/// One line, schema midwatch.fleet/1.
/// Runs of a FleetRequest of kList, one a line, and under them what a person must know.
std::string fleet_list_text(const FleetAnswer& answer, const Console& console);
std::string fleet_list_json(const FleetAnswer& answer);
/// One word for a run: the verdict on its machine, or what it rests in.
std::string fleet_word(const FleetAnswer& answer);
std::string fleet_json(const FleetAnswer& answer);
std::string fleet_offers_text(const FleetAnswer& answer, const Console& console);
std::string fleet_orphans_text(const FleetAnswer& answer, const Console& console);

}  // namespace mw
