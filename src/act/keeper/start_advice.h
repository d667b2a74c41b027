// What a command that could not be found was meant to be.
#pragma once

#include <string>
#include <string_view>

namespace mw {

/// How to write a command whose first word names no program: midwatch starts it without a shell. "; …", to be put
/// behind the error; "" where nothing shows.
std::string start_advice(std::string_view first_word, bool alone);

}  // namespace mw
