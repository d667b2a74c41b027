// What a log line says, without what its writers put around it.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// A line's message: without a progress bar or colour codes before it, without the header that PyTorch's C++ side
/// writes ("[rank2]:[E723 01:58:45.510486595 ProcessGroupNCCL.cpp:632] "), runs of spaces as one. "" where nothing
/// remains that a person could read.
std::string log_words(std::string_view text);

/// Does the text only lead to the words, as a frame of a traceback does?
bool points_on(std::string_view words);

/// A reason that quotes a line ("seen first: X") with the quote cleaned as above, "" when nothing of it remains; any
/// other reason as it is.
std::string reason_words(std::string_view reason);

/// What a reason of that kind quotes, cleaned; "" of any other reason.
std::string quoted_words(std::string_view reason);

}  // namespace mw
