// Who came from an attempt and does not carry its marker: as event::MembersSeen has it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "act/supervise/run_files.h"
#include "platform/process.h"

namespace mw {

/// By which the processes of this attempt are known; "" in a run that an older midwatch began.
std::string marker_of(const RunSpec& spec, int attempt);

std::string members_text(const std::vector<ProcessId>& members);
/// What cannot be read is left out.
std::vector<ProcessId> parse_members(std::string_view text);

}  // namespace mw
