// Logs of earlier runs in the folder of the one that is being written.
#pragma once

#include <string>
#include <vector>

#include "core/state.h"
#include "read/discover.h"

namespace mw {

/// Of `files`, as `state` has read them all: those of runs that are not the one which is written now, i.e. that of the
/// log which was written last. An older log was not written for a while, counts steps from about the same beginning,
/// and had other figures at them, or was further; its errors and its settings go with it. What the newest one goes on
/// from, its views, and files that a person named are none.
std::vector<std::string> older_runs(const State& state, const std::vector<FoundFile>& files);

}  // namespace mw
