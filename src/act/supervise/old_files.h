// A run that midwatch 0.1 began keeps what steers it in files of its folder. They are read once, when this midwatch
// reattaches it, and are in the journal from then on.
#pragma once

#include <string>

#include "act/supervise/run_files.h"
#include "base/result.h"
#include "core/event_writer.h"
#include "core/state.h"
#include "platform/disk.h"

namespace mw {

/// Records what those files say and the journal does not: that the run is to stop or is paused, for what the breaker
/// ended an attempt, what was decided after each. A file that midwatch did not write (it lacks the run's nonce) counts
/// for nothing. Idempotent. kIo: a file cannot be read; ask again.
Result<void> record_old_files(Disk& disk, const std::string& run_folder, const RunSpec& spec, int attempts,
                              const State& state, EventWriter& writer);

}  // namespace mw
