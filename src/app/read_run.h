// All files of one run, read to their ends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/services.h"
#include "platform/disk.h"
#include "read/books/knowledge_base.h"
#include "read/interpret/arms.h"

namespace mw {

/// Where a file holds several arms of an experiment, each is judged by itself, and the answer is that of the arm which
/// was asked for, else of the one in the worst state; a note says how each of them stands.
/// Where the files of a folder show nothing of a run, its notebooks are read in their place: notes and tables that lie
/// beside a notebook are no log.
Result<std::unique_ptr<Replayed>> read_run(Disk& disk, const KnowledgeBase& knowledge, const ReplayRequest& request,
                                           const std::vector<std::string>& paths);

}  // namespace mw
