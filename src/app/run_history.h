// What became of the run of a store, over all machines that it lived on.
#pragma once

#include "api/run_history.h"
#include "base/result.h"
#include "platform/disk.h"

namespace mw {

/// kNotFound: no run shipped anything to that place. The journals of its machines are received into a private folder of
/// this machine, and removed again.
Result<RunHistory> history_of(Disk& disk, const StoreAddress& store);

}  // namespace mw
