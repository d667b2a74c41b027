#include "sense/processes/sockets.h"

#include <doctest/doctest.h>

using namespace mw;
using namespace mw::components;

namespace {

const std::string kHead =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

std::string row(const std::string& local, const std::string& state, int inode) {
  return "   0: " + local + " 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000  1000        0 " +
         std::to_string(inode) + " 1 0000000000000000 100 0 0 10 0\n";
}

}  // namespace

TEST_CASE("listening sockets are read from the kernel's table") {
  const auto found = listening(kHead + row("0100007F:1F40", "0A", 11) + row("00000000:2328", "0A", 12) +
                               row("0100007F:9C40", "01", 13) + row("0A01A8C0:0050", "0A", 14));
  CHECK(found ==
        std::map<uint64_t, std::string>{{11, "127.0.0.1:8000"}, {12, "127.0.0.1:9000"}, {14, "192.168.1.10:80"}});
}

TEST_CASE("of the sixth version, what loopback or an IPv4 address reaches counts") {
  const auto found = listening(kHead + row("00000000000000000000000000000000:1F40", "0A", 1) +
                               row("00000000000000000000000001000000:1F41", "0A", 2) +
                               row("0000000000000000FFFF00000100007F:1F42", "0A", 3) +
                               row("B80D0120000000000000000001000000:1F43", "0A", 4));
  CHECK(found == std::map<uint64_t, std::string>{{1, "127.0.0.1:8000"}, {2, "[::1]:8001"}, {3, "127.0.0.1:8002"}});
}

TEST_CASE("a garbled table gives nothing") {
  for (const char* text :
       {"", "\n\n", "a b c d e f g h i j k", "0: zz:zz 0 0A 0 0 0 0 0 5 0\n", "0: 0100007F 0 0A 0 0 0 0 0 5 0\n",
        "0: 0100007F:1 0 0A 0 0 0 0 0 5 0\n", "0: :1F40 0 0A 0 0 0 0 0 -5 0\n"}) {
    CHECK(listening(text).empty());
  }
}

TEST_CASE("a process listens where its descriptors say") {
  FakeSystem system;
  system.files["/proc/7/net/tcp"] =
      kHead + row("0100007F:1F41", "0A", 101) + row("0100007F:1F40", "0A", 102) + row("0100007F:1F42", "0A", 103);
  system.files["/proc/7/fd/0"] = "/dev/null";
  system.files["/proc/7/fd/5"] = "socket:[101]";
  system.files["/proc/7/fd/6"] = "socket:[102]";
  system.files["/proc/7/fd/7"] = "socket:[999]";
  system.files["/proc/7/fd/8"] = "socket:[";
  CHECK(addresses_of(system, 7) == std::vector<std::string>{"127.0.0.1:8000", "127.0.0.1:8001"});
  CHECK(addresses_of(system, 8).empty());
}

TEST_CASE("connections show their state, both ends and what lies in their queues") {
  const auto found = connections(
      kHead +
      "   1: 0100007F:9C40 0700000A:1F40 01 00000010:0000012C 01:00000014 00000000  1000        0 21 2 0 20 4 30 10 "
      "-1\n" +
      "   2: 000080FE000000000000000001000000:9C41 000080FE000000000000000002000000:1F41 08 0:0 00:0 0 0 0 22 1\n" +
      "   3: 0000000000000000FFFF00000100007F:1F42 0000000000000000FFFF00000700000A:0050 02 0:0 00:0 0 0 0 23 1\n" +
      "   4: 0100007F:9C43 0700000A:1F40 06 0:0 00:0 0 0 0 0 1\n" + "   5: junk 0:0 01 x:y 00:0 0 0 0 25 1\n");
  REQUIRE(found.size() == 3);
  CHECK(found.at(21).state == "ESTABLISHED");
  CHECK(found.at(21).local == "127.0.0.1:40000");
  CHECK(found.at(21).peer == "10.0.0.7:8000");
  CHECK(found.at(21).unsent == 16);
  CHECK(found.at(21).unread == 300);
  CHECK(found.at(22).state == "CLOSE_WAIT");
  CHECK(found.at(22).peer == "[fe80::2]:8001");
  CHECK(found.at(23).state == "SYN_SENT");
  CHECK(found.at(23).local == "127.0.0.1:8002");
}

TEST_CASE("a descriptor's link names the inode of its socket") {
  CHECK(socket_inode("socket:[4711]") == 4711);
  CHECK(socket_inode("socket:[4711") == 0);
  CHECK(socket_inode("socket:[]") == 0);
  CHECK(socket_inode("pipe:[4711]") == 0);
  CHECK(socket_inode("/tmp/x") == 0);
}
