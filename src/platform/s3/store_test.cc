// What a request to a server costs, over a socket of this machine: a server that answers as Ceph's gateway does, the
// header of an answer in one piece and its body in the next, with Nagle's algorithm on.
#include "platform/s3/store.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/digest.h"
#include "base/text.h"
#include "platform/clock.h"

namespace mw::s3 {
namespace {

class PiecewiseServer {
 public:
  PiecewiseServer() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 4) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~PiecewiseServer() {
    (void)::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    (void)::close(listener_);
  }
  PiecewiseServer(const PiecewiseServer&) = delete;
  PiecewiseServer& operator=(const PiecewiseServer&) = delete;

  std::string url() const { return cat("http://127.0.0.1:", port_); }

  std::vector<std::string> asked;  ///< the head of each request; read it when nothing is on its way

 private:
  void serve() {
    for (int fd = ::accept(listener_, nullptr, nullptr); fd >= 0; fd = ::accept(listener_, nullptr, nullptr)) {
      while (answer(fd)) continue;
      (void)::close(fd);
    }
  }

  bool answer(int fd) {
    std::array<char, 4096> piece{};
    std::string got;
    size_t end = std::string::npos;
    while ((end = got.find("\r\n\r\n")) == std::string::npos || got.size() < end + 4 + body_of(got.substr(0, end))) {
      const ssize_t bytes = ::recv(fd, piece.data(), piece.size(), 0);
      if (bytes <= 0) return false;
      got.append(piece.data(), static_cast<size_t>(bytes));
    }
    asked.push_back(got.substr(0, end));
    for (const std::string_view part : {"HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 4\r\n\r\n", "body"})
      if (::send(fd, part.data(), part.size(), MSG_NOSIGNAL) < 0) return false;
    return true;
  }

  static size_t body_of(const std::string& head) {
    const size_t at = head.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
  }

  int listener_ = -1;
  uint16_t port_ = 0;
  std::thread thread_;
};

struct Reached {
  PiecewiseServer server;
  std::unique_ptr<Http> http = make_http(true);
  std::unique_ptr<Clock> clock = make_posix_clock();
  std::unique_ptr<ObjectStore> store =
      make_store({server.url(), "us-east-1", true, {"id", "secret", ""}, 0}, "bucket", *http, *clock, [](Duration) {});
  ~Reached() {
    store.reset();
    http.reset();  // closes the connection, and the server's thread ends
  }
};

TEST_CASE("an answer in two pieces does not wait for a late acknowledgement") {
  Reached reached;
  std::vector<int64_t> took;
  for (int i = 0; i < 30; ++i) {
    const Duration began = reached.clock->steady();
    CHECK(get_small(*reached.store, "key", 100).ok());
    took.push_back(reached.clock->steady().ns - began.ns);
  }
  // A kernel acknowledges the first pieces of a connection at once, so these say nothing. A late one is 40 ms late; of
  // twenty, one at least is not held up by a busy machine.
  CHECK(*std::min_element(took.begin() + 10, took.end()) < Duration::millis(30).ns);
}

TEST_CASE("a server that is not reached is no object that is absent") {
  Reached reached;
  const auto check = [&](const std::string& endpoint) {
    const auto store = make_store({endpoint, "us-east-1", true, {"id", "secret", ""}, 0}, "bucket", *reached.http,
                                  *reached.clock, [](Duration) {});
    CHECK(store->head("key").error().code == Error::Code::kIo);
    CHECK(get_small(*store, "key", 100).error().code == Error::Code::kIo);
    CHECK(store->list("", "").error().code == Error::Code::kIo);
  };
  check("http://127.0.0.1:1");           // nobody listens
  check("http://no-such-host.invalid");  // no such name
}

TEST_CASE("the MD5 that a caller knows is what the server is given to compare with") {
  Reached reached;
  const std::string bytes(1000, 'x'), sum = md5("as if it had been computed before");
  CHECK(reached.store->put("key", {bytes, sum}, {}).ok());
  CHECK(reached.store->put_part("key", "upload", 1, {bytes, sum}).ok());
  CHECK(reached.store->put("key", bytes, {}).ok());
  REQUIRE(reached.server.asked.size() == 3);
  CHECK(contains(reached.server.asked[0], cat("content-md5: ", to_base64(sum), "\r\n")));
  CHECK(contains(reached.server.asked[1], cat("content-md5: ", to_base64(sum), "\r\n")));
  CHECK(contains(reached.server.asked[2], cat("content-md5: ", to_base64(md5(bytes)), "\r\n")));
}

}  // namespace
}  // namespace mw::s3
