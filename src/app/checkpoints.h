// What a person asks of checkpoints: which there are, whether they are whole, what differs. Reads only; what it
// remembers goes to the state folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/requests.h"
#include "base/result.h"
#include "platform/disk.h"
#include "read/books/knowledge_base.h"

namespace mw {

/// `now`: by the wall clock.
Result<CheckpointsAnswer> checkpoints_at(Disk& disk, const CheckpointsRequest& request,
                                         const std::vector<std::string>& paths, Time now);
/// Those that lie where the run's journal says that it saves.
Result<CheckpointsAnswer> checkpoints_of_run(Disk& disk, const KnowledgeBase& knowledge, const std::string& run_folder,
                                             const CheckpointsRequest& request, Time now);
/// Is there one to resume from?
inline bool needs_words(const CheckpointsAnswer& answer) { return !answer.resume_from.path.empty(); }
/// Puts into the notes of what to resume from by which words its trainer takes it.
void say_how_to_resume(const KnowledgeBase& knowledge, CheckpointsAnswer& answer);

Result<TensorsAnswer> tensors_of(Disk& disk, const std::string& before, const std::string& after,
                                 const std::function<void(int64_t, int64_t)>& progress);

}  // namespace mw
