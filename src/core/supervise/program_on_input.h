// Commands that read what they are to do from standard input: "bash -s", "python3 -".
#pragma once

#include <span>
#include <string>

namespace mw {

/// True only where that is sure: an interpreter without a script, alone or behind wrappers such as env and nohup.
bool reads_program_from_input(std::span<const std::string> command);

/// How many words of a command stand before its program: env, nohup, sudo, their options, NAME=VALUE.
size_t past_wrappers(std::span<const std::string> command);

}  // namespace mw
