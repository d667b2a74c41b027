// What may be rented now, for somebody who has no specification yet: nothing of a run or a store is needed.
#pragma once

#include "api/fleet.h"
#include "base/result.h"

namespace mw {

/// Of the providers whose key is in the environment, or of the one that is named. kInvalid: there is none.
Result<FleetAnswer> search_offers(const FleetRequest& request);

}  // namespace mw
