// Lines that hold what a model or a tool said, not what the program says of itself.
#pragma once

#include <string_view>

#include "read/lines/rare_bytes.h"

namespace mw {

/// Quoted or dumped conversation inside one line: it names who speaks at its head ("[response] …", "Answer: …"), or
/// holds the tags of a chat. `rare`: of the line.
bool holds_sample_text(std::string_view text, RareBytes rare);

}  // namespace mw
