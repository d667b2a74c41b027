// Files whose records come from the newest to the oldest, as a search of logs or a table of metrics is exported.
#pragma once

#include <string>
#include <string_view>

#include "read/files/sniff.h"

namespace mw {

/// Do the clocks of the lines that `head` begins with fall, or the steps and times of its records? Of text, JSON lines
/// and tables; never true of another kind, and only where nearly no line is later than the one before it.
bool is_newest_first(FileKind kind, std::string_view head);

/// Its lines from the last one to the first; the heading of a table stays first. Every line of the answer has an end. A
/// table whose cells go over several lines is given back as it stands.
std::string oldest_first(FileKind kind, std::string_view whole);

}  // namespace mw
