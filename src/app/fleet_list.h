// All runs of several specifications and of a store, with how each stands.
#pragma once

#include "api/fleet.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// The answer to a FleetRequest of kList. A run that cannot be read is there with its trouble. kNotFound: there is no
/// run at all; other errors are of a place that could not be listed.
Result<FleetAnswer> list_fleet(Disk& disk, const FleetRequest& request);

}  // namespace mw
