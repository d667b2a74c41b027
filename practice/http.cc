#include "practice/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <thread>
#include <utility>

#include "base/numbers.h"
#include "base/text.h"

namespace practice {
namespace {

constexpr int kBacklog = 64;
constexpr double kClientLimit = 30;  // seconds that a server waits for a client's bytes

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void limit_waits(int fd, double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const timeval limit{whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

bool send_text(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

struct Message {
  std::string first_line, body;
};

/// A whole message; nullopt when the connection ends, a limit is passed, or (errno EAGAIN) the time is over.
std::optional<Message> receive(int fd) {
  std::string bytes;
  size_t head = std::string::npos, wanted = 0;
  char piece[1 << 16];
  while (head == std::string::npos || bytes.size() < head + 4 + wanted) {
    const ssize_t got = recv(fd, piece, sizeof piece, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = ECONNRESET;
    if (got <= 0) return std::nullopt;
    bytes.append(piece, static_cast<size_t>(got));
    if (head != std::string::npos) continue;
    head = bytes.find("\r\n\r\n");
    if (head == std::string::npos) {
      if (bytes.size() > kHttpHeadLimit) return std::nullopt;
      continue;
    }
    const std::string fields = mw::to_lower(std::string_view(bytes).substr(0, head + 2));
    constexpr std::string_view kLength = "\r\ncontent-length:";
    if (const size_t at = fields.find(kLength); at != std::string::npos) {
      const std::string_view value = std::string_view(fields).substr(at + kLength.size());
      wanted = static_cast<size_t>(mw::parse_int(mw::trim(value.substr(0, value.find('\r')))).value_or(0));
    }
    if (wanted > kHttpBodyLimit) return std::nullopt;
  }
  return Message{bytes.substr(0, bytes.find('\r')), bytes.substr(head + 4, wanted)};
}

std::string_view phrase(int status) {
  return status == 200   ? "OK"
         : status == 404 ? "Not Found"
         : status == 503 ? "Service Unavailable"
                         : "Internal Server Error";
}

void serve_one(int fd, const std::function<HttpReply(const HttpRequest&)>& answer) {
  limit_waits(fd, kClientLimit);
  if (auto message = receive(fd)) {
    const auto words = mw::split(message->first_line, ' ');
    HttpReply reply;
    reply.status = 404;
    if (words.size() >= 2) {
      reply = answer({std::string(words[0]), std::string(words[1]), std::move(message->body)});
    }
    send_text(fd, mw::cat("HTTP/1.1 ", reply.status, " ", phrase(reply.status), "\r\ncontent-type: ", reply.type,
                          "\r\ncontent-length: ", reply.body.size(), "\r\nconnection: close\r\n\r\n", reply.body));
  }
  close(fd);
}

HttpReply no_reply() {
  HttpReply reply;
  reply.status = 0;
  reply.problem = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINPROGRESS ? "timeout"
                  : errno == ECONNREFUSED                                         ? "refused"
                                                                                  : "reset";
  return reply;
}

}  // namespace

HttpReply http_ask(int port, const HttpRequest& request, double timeout_s) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return no_reply();
  limit_waits(fd, timeout_s);
  const sockaddr_in address = loopback(port);
  const std::string head = mw::cat(request.method, " ", request.path, " HTTP/1.1\r\nhost: 127.0.0.1:", port,
                                   "\r\ncontent-length: ", request.body.size(), "\r\nconnection: close\r\n\r\n");
  std::optional<Message> message;
  HttpReply reply;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send_text(fd, head + request.body)) {
    message = receive(fd);
  }
  if (message) {
    const auto words = mw::split(message->first_line, ' ');
    reply.status = words.size() > 1 ? static_cast<int>(mw::parse_int(words[1]).value_or(500)) : 500;
    reply.body = std::move(message->body);
  } else {
    reply = no_reply();
  }
  close(fd);
  return reply;
}

void never_answer() {
  for (;;) pause();
}

int http_serve(int port, const std::function<void()>& ready,
               const std::function<HttpReply(const HttpRequest&)>& answer) {
  const int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int again = 1;
  setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  const sockaddr_in address = loopback(port);
  if (bind(door, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(door, kBacklog) != 0) {
    const int trouble = errno;
    close(door);
    return trouble;
  }
  ready();
  for (;;) {
    const int fd = accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    std::thread([fd, answer] { serve_one(fd, answer); }).detach();
  }
}

}  // namespace practice
