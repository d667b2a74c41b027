// The folder of a supervised run: made for a new one, found for one that is reattached.
#pragma once

#include <string>

#include "api/requests.h"
#include "base/result.h"
#include "platform/doors.h"

namespace mw {

/// The name of the run under `home` that is begun (its folder and run.json are there then), or reattached.
Result<std::string> begin_or_find(const Doors& doors, const std::string& home, const RunRequest& request);

}  // namespace mw
