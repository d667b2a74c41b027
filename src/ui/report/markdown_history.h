// The report of a run that lived on several machines, as one document: what each machine did, what was lost between
// them and what it cost, then the report of each machine's own record.
#pragma once

#include <string>

#include "api/run_history.h"

namespace mw {

std::string markdown_history(const RunHistory& history);

}  // namespace mw
