// `midwatch fleet`: the controller's doors to a store and to providers, by a specification.
#pragma once

#include "api/fleet.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// kInvalid: the specification is wrong, or differs from the one in the store; kUnsupported: the store does not keep
/// conditional writes.
Result<FleetAnswer> manage_fleet(Disk& disk, const FleetRequest& request);

}  // namespace mw
