// The folder of a supervised run: made for a new one, found for one that is reattached.
#pragma once

#include <string>

#include "api/requests.h"
#include "base/result.h"
#include "platform/doors.h"
#include "platform/process.h"

namespace mw {

/// The folder of the run that is begun (it and its run.json are there then), or of the one that is reattached.
Result<std::string> begin_or_find(const Doors& doors, Processes& processes, const RunRequest& request);

}  // namespace mw
