// Which addresses a process listens at, and whom it is connected with.
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

/// A TCP socket of a process, from its own side.
struct Connection {
  std::string state;  ///< as the kernel names it: "ESTABLISHED", "CLOSE_WAIT" (the other side has hung up), "LISTEN", …
  std::string local, peer;         ///< "10.0.0.7:8000", "[fd00::7]:8000"
  int64_t unsent = 0, unread = 0;  ///< bytes; of one that listens, `unread` is connections that nobody has accepted
};

/// All sockets in such a text, by inode.
std::map<uint64_t, Connection> connections(std::string_view text);

/// The inode in a descriptor's link "socket:[4711]"; 0 when it is no socket.
uint64_t socket_inode(std::string_view link);

/// Where processes listen. The tables of a network namespace are read once, for many processes at once: the kernel
/// takes milliseconds to write them where there are many connections.
class Listeners {
 public:
  explicit Listeners(System& system) : system_(system) {}
  /// The addresses at which process `pid` listens, in ascending order of their ports; at most kAddresses.
  std::vector<std::string> of(int64_t pid);
  /// The ports at which anybody listens whom `pid` could reach on its own machine.
  std::vector<int64_t> ports_beside(int64_t pid);

 private:
  const std::map<uint64_t, std::string>& table_of(int64_t pid);

  System& system_;
  std::map<std::string, std::map<uint64_t, std::string>> tables_;  // by namespace
};
/// Of one process alone.
std::vector<std::string> addresses_of(System& system, int64_t pid);
constexpr size_t kAddresses = 4;

}  // namespace mw::components
