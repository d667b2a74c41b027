// The words in a line of a logger that writes JSON.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// What such a logger was given to say, as `out`: {"level": "INFO", "message": "step 3: loss=0.5"}, with what is
/// escaped in it as it was: "{\"step\": 3}" is {"step": 3}. False for any other line, and where the object has figures
/// of its own beside the logger's (is_logger_name()).
bool logged_message(std::string_view line, std::string& out);

/// Whether a logger numbers its records by that name, or below it ("process/id"): their time, process, thread, line,
/// level, rank.
bool is_logger_name(std::string_view name);

}  // namespace mw
