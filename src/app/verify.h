// Folds a recorded run again (core/supervise/verify.h).
#pragma once

#include "api/requests.h"
#include "base/result.h"
#include "platform/disk.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// Is this a run's folder, with a journal in it?
bool is_run_folder(Disk& disk, const std::string& path);

/// `knowledge` gets the rules of the settings that the run was begun with, as far as they are still there.
Result<VerifyAnswer> verify_run(Disk& disk, KnowledgeBase& knowledge, const std::string& run_folder);

}  // namespace mw
