// Who listens at an address of this machine, by the sockets there and the processes that hold them.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

#include "platform/system.h"

namespace mw::components {

/// The inodes of the sockets that listen where `address` ("http://10.0.0.7:8000") leads, on the machine as this process
/// sees it. Empty where it leads to another machine, or where that is not known: no name server is asked. Known are
/// addresses of the machine's own interfaces, "localhost", the machine's own name, and the names of /etc/hosts.
std::set<uint64_t> listeners_at(System& system, std::string_view address);

/// The processes that hold the socket of this inode, as far as their descriptors can be seen. Reads those of all
/// processes.
std::set<int64_t> holders_of(System& system, uint64_t inode);

}  // namespace mw::components
