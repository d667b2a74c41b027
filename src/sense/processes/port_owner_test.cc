#include "sense/processes/port_owner.h"

#include <doctest/doctest.h>

#include <string>

using namespace mw;
using namespace mw::components;

namespace {

using Sockets = std::set<uint64_t>;

std::string row(const std::string& local, int inode) {
  return "   0: " + local + " 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 " +
         std::to_string(inode) + " 1 0000000000000000 100 0 0 10 0\n";
}

/// A machine called node7 with the addresses 10.0.0.7 and fd00::7.
struct Machine {
  FakeSystem system;
  Machine() {
    system.files["/proc/sys/kernel/hostname"] = "Node7\n";
    system.files["/proc/self/net/fib_trie"] =
        "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     |-- 10.0.0.0\n"
        "        /24 link UNICAST\nLocal:\n     |-- 10.0.0.7\n        /32 host LOCAL\n     |-- 10.0.0.255\n"
        "        /32 link BROADCAST\n        |-- 127.0.0.1\n           /32 host LOCAL\n";
    system.files["/proc/self/net/if_inet6"] =
        "00000000000000000000000000000001 01 80 10 80       lo\nfd000000000000000000000000000007 02 40 00 80     "
        "eth0\n";
    system.files["/etc/hosts"] =
        "127.0.0.1\tlocalhost\n10.0.0.7 engine.local gpu # ours\n10.0.0.9 other\n# 10.0.0.7 gone\n";
    system.files["/proc/self/net/tcp"] =
        row("0700000A:1F40", 1) + row("00000000:1F41", 2) + row("0100007F:1F42", 3) + row("00000000:0050", 4);
    system.files["/proc/self/net/tcp6"] =
        row("00000000000000000000000000000000:1F43", 5) + row("000000FD000000000000000007000000:1F44", 6);
  }
  Sockets at(const std::string& address) { return listeners_at(system, address); }
};

}  // namespace

TEST_CASE("who listens at an address is found where it is the machine's own, by whatever name") {
  Machine machine;
  for (const char* const host : {"10.0.0.7", "node7", "NODE7", "node7.cluster.local", "engine.local", "gpu"}) {
    CAPTURE(host);
    const std::string at = std::string("http://") + host;
    CHECK(machine.at(at + ":8000") == Sockets{1});
    CHECK(machine.at(at + ":8001/health") == Sockets{2});  // at every address
    CHECK(machine.at(at + ":8003") == Sockets{5});
    CHECK(machine.at(at) == Sockets{4});
    CHECK(machine.at(at + ":8009").empty());
  }
  CHECK(machine.at("http://10.0.0.7:8002").empty());  // only loopback reaches it
  for (const char* const host : {"127.0.0.1", "localhost", "[::1]", "0.0.0.0"}) {
    CAPTURE(host);
    CHECK(machine.at(std::string("http://") + host + ":8002") == Sockets{3});
    CHECK(machine.at(std::string("http://") + host + ":8000").empty());
  }
  CHECK(machine.at("http://[fd00::7]:8004") == Sockets{6});
  CHECK(machine.at("http://[fd00:0:0:0:0:0:0:7]:8004") == Sockets{6});
}

TEST_CASE("nobody of this machine listens at the address of another one") {
  Machine machine;
  for (const char* const host :
       {"10.0.0.9", "other", "node8", "10.0.0.0", "10.0.0.255", "[fd00::8]", "example.org", "gone", ""}) {
    CAPTURE(host);
    CHECK(machine.at(std::string("http://") + host + ":8001").empty());
  }
  Machine bare;  // a kernel without these files
  bare.system.files.erase("/proc/self/net/fib_trie");
  bare.system.files.erase("/proc/self/net/if_inet6");
  bare.system.files.erase("/etc/hosts");
  CHECK(bare.at("http://10.0.0.7:8001").empty());
  CHECK(bare.at("http://localhost:8001") == Sockets{2});
}

TEST_CASE("the holders of a socket are the processes that have it open") {
  FakeSystem system;
  system.files["/proc/7/fd/3"] = "socket:[4711]";
  system.files["/proc/8/fd/0"] = "/dev/null";
  system.files["/proc/8/fd/5"] = "socket:[4711]";
  system.files["/proc/9/fd/5"] = "socket:[4712]";
  system.files["/proc/self/fd/5"] = "socket:[4711]";
  CHECK(holders_of(system, 4711) == std::set<int64_t>{7, 8});
  CHECK(holders_of(system, 1).empty());
}
