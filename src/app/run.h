// The loop of `midwatch run`: that of attach, over what the command writes, with a supervisor beside it.
#pragma once

#include "api/requests.h"
#include "platform/doors.h"
#include "platform/process.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// Begins a run, or reattaches one, and supervises it until it is over.
Result<RunResult> supervise_run(const Doors& doors, Processes& processes, KnowledgeBase& base,
                                const RunRequest& request);

}  // namespace mw
