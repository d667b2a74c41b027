// HTTP/1.1 over loopback, as little of it as an inference server and a trainer need: one request per connection, bodies
// of a stated length.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace practice {

struct HttpRequest {
  std::string method, path, body;
};

struct HttpReply {
  int status = 200;  ///< 0: there was none, `problem` says why
  std::string body;
  std::string type = "application/json";
  std::string problem;  ///< "refused", "reset", "timeout"
};

constexpr size_t kHttpHeadLimit = 64 << 10, kHttpBodyLimit = 64 << 20;  // bytes

/// One request to 127.0.0.1:`port`; `timeout_s` 0 waits for ever.
HttpReply http_ask(int port, const HttpRequest& request, double timeout_s);

/// Answers nothing, for ever: what a request to a half-dead server comes to.
[[noreturn]] void never_answer();

/// Serves 127.0.0.1:`port`, each connection in a thread of its own, until the process ends. Returns the errno with
/// which the port could not be taken; `ready` is called once it is.
int http_serve(int port, const std::function<void()>& ready,
               const std::function<HttpReply(const HttpRequest&)>& answer);

}  // namespace practice
