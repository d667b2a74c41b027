// Which addresses a process listens at.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "platform/system.h"

namespace mw::components {

/// Listening sockets in the text of /proc/net/tcp or tcp6 (proc(5)): by inode, "127.0.0.1:8000". One that listens at
/// every address of the machine is given as loopback, which reaches it.
std::map<uint64_t, std::string> listening(std::string_view text);

/// The addresses at which process `pid` listens, in ascending order of their ports; at most kAddresses.
std::vector<std::string> addresses_of(System& system, int64_t pid);
constexpr size_t kAddresses = 4;

}  // namespace mw::components
