// Whom a client is asked for: the container, pod, machine or job that its words name, so that a person can be given a
// command that fits. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/supervise/client.h"

namespace mw {

/// How a person sees and ends what `client` follows, with its name where the words say it, ready to be copied:
/// "docker ps shows it, docker stop box ends it."; else Client::advice. `words`: a command, as of client_of(); `job`:
/// the name of a job that its output says, "": none. Names with signs that mean something to a shell count as unknown.
std::string how_to_end(const Client& client, std::span<const std::string> words, std::string_view job);

}  // namespace mw
