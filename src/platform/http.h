// The door to other machines: one HTTP request or one mail at a time, each within a deadline.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mw {

struct HttpRequest {
  std::string method = "POST";
  std::string url;                   ///< http or https; never named in an error, as it may hold a secret
  std::vector<std::string> headers;  ///< "Name: value"
  std::string body;
  Duration deadline = Duration::seconds(10);  ///< for all of it: name, connection, answer
  bool direct = false;                        ///< by no proxy, whatever the environment says
  size_t answer_limit = size_t{64} << 10;     ///< bytes of the answer that are kept; the rest is dropped
  std::string_view payload = {};              ///< sent in place of `body`, without a copy; must outlive the call
  Duration stall = {};  ///< fails when no byte came or went for so long; 0: only the deadline holds
  /// Bytes a second each way, at most; 0: as fast as it goes. What is sent shares it with all else that this process
  /// sends (platform/send_limit.h).
  int64_t rate = 0;
  bool want_headers = false;
  /// Gets the body of an answer of 200 or 206 as it comes, in place of HttpAnswer::body; false ends the request (kIo).
  std::function<bool(std::string_view)> sink = {};
};

struct HttpAnswer {
  int status = 0;
  std::string body;
  double retry_after_s = -1;  ///< as the server asked (Retry-After in seconds); -1: it did not
  /// Of the answer, when they were wanted: names in lower case, values trimmed.
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// The value of a header, or "".
  std::string_view header(std::string_view lower_name) const {
    for (const auto& [name, value] : headers) {
      if (name == lower_name) return value;
    }
    return {};
  }
};

struct MailRequest {
  std::string server;          ///< "smtp://host:587" or "smtps://host:465"
  std::string user, password;  ///< "": no login
  enum class Tls { kRequire, kIfOffered, kNever };
  Tls tls = Tls::kRequire;  ///< of an smtp:// server; smtps:// always has it
  std::string from;
  std::vector<std::string> to;
  std::string message;  ///< headers, an empty line, the text (RFC 5322), with CR LF
  Duration deadline = Duration::seconds(30);
};

/// May be asked from several threads.
class Http {
 public:
  virtual ~Http() = default;
  /// An answer of any status is an answer. Errors: no such host, refused, timed out, not trusted. Redirects are not
  /// followed. Proxies are those of the environment (https_proxy, no_proxy, …).
  virtual Result<HttpAnswer> send(const HttpRequest& request) = 0;
  /// Delivered when the server took it for all recipients.
  virtual Result<void> mail(const MailRequest& request) = 0;
};

/// `keeps_connections`: what was opened to a server serves the requests after it. For whoever asks one server often.
std::unique_ptr<Http> make_http(bool keeps_connections = false);

/// `text` with all but unreserved characters percent-encoded (RFC 3986).
std::string percent_encode(std::string_view text);

}  // namespace mw
