// Who came from an attempt and carries no mark: as a file, for the next midwatch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "act/supervise/run_spec.h"
#include "platform/process.h"

namespace mw {

/// By which the processes of this attempt are known; "" in a run that an older midwatch began.
std::string mark_of(const RunSpec& spec, int attempt);

std::string members_text(const std::vector<ProcessId>& members, std::string_view nonce, std::string_view boot);
/// None when it was written on another start of the machine, or cannot be read.
std::vector<ProcessId> parse_members(std::string_view text, std::string_view boot);

}  // namespace mw
