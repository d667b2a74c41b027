// What `midwatch cleanup` and `midwatch checkpoint prune` share: the plan is shown, somebody says yes, it is done.
#pragma once

#include "ui/cli/verb.h"

namespace mw {

/// Takes --dry-run, --yes and --json from `args`. Exit::kUndone where nobody said yes.
Exit clean_up_after_yes(CleanupRequest request, const Args& args, Services& services, const Console& console);

}  // namespace mw
