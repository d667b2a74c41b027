#include "sense/processes/addresses.h"

#include <doctest/doctest.h>

using mw::components::addresses_in;
using Addresses = std::vector<std::string>;

TEST_CASE("addresses are found in the shapes in which clients write them") {
  CHECK(addresses_in("Cannot connect to host 127.0.0.1:8000 ssl:default") == Addresses{"127.0.0.1:8000"});
  CHECK(addresses_in("url='http://10.1.2.3:30000/generate'") == Addresses{"10.1.2.3:30000"});
  CHECK(addresses_in("[Connect call failed ('192.168.0.9', 8001)]") == Addresses{"192.168.0.9:8001"});
  CHECK(addresses_in("HTTPConnectionPool(host='localhost', port=8002): Max") == Addresses{"127.0.0.1:8002"});
  CHECK(addresses_in("no answer from localhost:1.") == Addresses{"127.0.0.1:1"});
}

TEST_CASE("each is listed once, in order, and no more than four") {
  CHECK(addresses_in("10.0.0.1:2 10.0.0.1:1 10.0.0.1:2") == Addresses{"10.0.0.1:2", "10.0.0.1:1"});
  CHECK(addresses_in("10.0.0.1:1,10.0.0.1:2,10.0.0.1:3,10.0.0.1:4,10.0.0.1:5").size() == 4);
}

TEST_CASE("what is no address of a near server is none") {
  for (const char* line :
       {"8.8.8.8:53", "172.32.0.1:80", "169.254.169.254:80", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:65536",
        "10.0.0.1:123456", "10.0.0.256:80", "1.10.0.0.1:80", "v10.0.0.1:80", "10.0.0.1:80ms", "10.0.0.1:8.5",
        "localhosts:80", "mylocalhost:80", "loss 10.0.0.1", "", ":", "127.0.0.1:", "('127.0.0.1', )"}) {
    CAPTURE(line);
    CHECK(addresses_in(line).empty());
  }
}
