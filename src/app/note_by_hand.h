// A person's note on a run that nobody watches: this process writes it into the run's journal itself.
#pragma once

#include <string>

#include "base/result.h"
#include "core/supervise/run_ask.h"
#include "platform/disk.h"

namespace mw {

/// Takes the run's lock, so that no midwatch comes between, and returns when the note is durable. `ask` is of kTell,
/// with its person and time. Secrets are taken out of its text. An error: somebody watches the run, or its folder
/// cannot be written; nothing was recorded then.
Result<void> note_by_hand(Disk& disk, const std::string& run_folder, const RunAsk& ask);

}  // namespace mw
