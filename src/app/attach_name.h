// The name that a person gives to a run that is only watched.
#pragma once

#include "api/requests.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// Nothing to say of a request without a name. kInvalid: no run can be called so, or another run is: one of `midwatch
/// run`, or one of which other files were recorded.
Result<void> check_attach_name(Disk& disk, const AttachRequest& request);

}  // namespace mw
