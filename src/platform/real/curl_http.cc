// The only includer of libcurl.
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>

#include "base/numbers.h"
#include "base/text.h"
#include "platform/http.h"
#include "platform/send_limit.h"

namespace mw {
namespace {

/// Where distributions keep the certificates of authorities; a static libcurl knows only the one it was built for.
std::string authorities() {
  const char* given = std::getenv("SSL_CERT_FILE");
  if (given != nullptr && *given != '\0') return given;
  for (const char* path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (access(path, R_OK) == 0) return path;
  }
  return {};
}

/// The sockets of one handle that are open. libcurl keeps what the callbacks are given with each connection, until it
/// is closed.
using Sockets = std::vector<curl_socket_t>;

curl_socket_t open_socket(void* of, curlsocktype, curl_sockaddr* address) {
  const curl_socket_t fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd >= 0) static_cast<Sockets*>(of)->push_back(fd);
  return fd < 0 ? CURL_SOCKET_BAD : fd;
}

int close_socket(void* of, curl_socket_t fd) {
  std::erase(*static_cast<Sockets*>(of), fd);
  return ::close(fd);
}

/// The kernel sends an acknowledgement 40 ms late when it hopes to send data along with it. A server that has Nagle's
/// algorithm on (Ceph's gateway, as it comes) sends the header of an answer, and its body only when the header is
/// acknowledged: each question of a transfer would wait for that. The kernel forgets the option again, so it is asked
/// for with each answer.
void acknowledge_now(const Sockets& sockets) {
  const int on = 1;
  for (const curl_socket_t fd : sockets) (void)::setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

struct Answering {
  HttpAnswer answer;
  size_t limit = 0;
  CURL* handle = nullptr;
  const HttpRequest* request = nullptr;
  const Sockets* sockets = nullptr;
};

/// Is what comes the body that was asked for, and no page about an error?
bool is_wanted(const Answering& answering) {
  long status = 0;
  curl_easy_getinfo(answering.handle, CURLINFO_RESPONSE_CODE, &status);
  return status == 200 || status == 206;
}

size_t take_body(char* data, size_t size, size_t count, void* to) {
  auto& answering = *static_cast<Answering*>(to);
  const size_t bytes = size * count;
  if (answering.request->sink && is_wanted(answering)) {
    return answering.request->sink(std::string_view(data, bytes)) ? bytes : 0;
  }
  const size_t room = answering.limit - std::min(answering.limit, answering.answer.body.size());
  answering.answer.body.append(data, std::min(bytes, room));
  return bytes;
}

size_t take_header(char* data, size_t size, size_t count, void* to) {
  const std::string_view line(data, size * count);
  constexpr std::string_view kName = "retry-after:";
  if (line.size() > kName.size() && contains_folded(line.substr(0, kName.size()), kName)) {
    const auto seconds = parse_double(trim(line.substr(kName.size())));
    if (seconds && *seconds >= 0) static_cast<Answering*>(to)->answer.retry_after_s = *seconds;
  }
  auto& answering = *static_cast<Answering*>(to);
  const size_t colon = line.find(':');
  if (line == "\r\n") acknowledge_now(*answering.sockets);
  if (line.starts_with("HTTP/")) {
    answering.answer.headers.clear();  // those of an interim answer are none of the answer's
  } else if (answering.request->want_headers && colon != std::string_view::npos &&
             answering.answer.headers.size() < 200) {
    answering.answer.headers.emplace_back(to_lower(line.substr(0, colon)), std::string(trim(line.substr(colon + 1))));
  }
  return line.size();
}

struct Sending {
  std::string_view all, rest;
  int64_t rate = 0;
};

/// Of a body that goes at a limited rate. libcurl's own limit holds on average: after a rest it catches up at once.
size_t give_body(char* data, size_t size, size_t count, void* from) {
  auto& sending = *static_cast<Sending*>(from);
  const size_t bytes = SendLimit::piece(std::min(size * count, sending.rest.size()), sending.rate);
  wait_to_send(bytes, sending.rate);
  std::memcpy(data, sending.rest.data(), bytes);
  sending.rest.remove_prefix(bytes);
  return bytes;
}

/// Where a connection that was kept turns out to be gone, the body goes once more.
int seek_body(void* from, curl_off_t offset, int origin) {
  auto& sending = *static_cast<Sending*>(from);
  if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > sending.all.size()) return CURL_SEEKFUNC_FAIL;
  sending.rest = sending.all.substr(static_cast<size_t>(offset));
  return CURL_SEEKFUNC_OK;
}

size_t give_mail(char* data, size_t size, size_t count, void* from) {
  auto& sending = *static_cast<Sending*>(from);
  const size_t bytes = std::min(size * count, sending.rest.size());
  std::memcpy(data, sending.rest.data(), bytes);
  sending.rest.remove_prefix(bytes);
  return bytes;
}

struct Ends {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
/// A handle, and the sockets of its connections, which go after it.
struct Handle {
  std::unique_ptr<Sockets> sockets = std::make_unique<Sockets>();
  std::unique_ptr<CURL, Ends> curl;
  CURL* get() const { return curl.get(); }
};
using List = std::unique_ptr<curl_slist, Ends>;

List list_of(const std::vector<std::string>& lines) {
  List list;
  for (const std::string& line : lines) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer == nullptr) break;
    (void)list.release();
    list.reset(longer);
  }
  return list;
}

/// The same text for the same failure: who asks again and again reports a text once. libcurl's own words of a failed
/// connection hold the milliseconds that it took.
Error error_of(CURL* handle, CURLcode code, const char* detail) {
  const std::string_view said = detail[0] != '\0' ? std::string_view(detail) : curl_easy_strerror(code);
  long number = 0;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {Error::Code::kNotFound, std::string(said), ""};
    case CURLE_COULDNT_CONNECT:
      curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
      return {Error::Code::kNotFound,
              number != 0 ? std::generic_category().message(static_cast<int>(number)) : curl_easy_strerror(code), ""};
    case CURLE_OPERATION_TIMEDOUT:
      return {Error::Code::kInterrupted, "no answer within the deadline", ""};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return {Error::Code::kDenied, std::string(said),
              "SSL_CERT_FILE may name a file with the certificates of your own authority."};
    case CURLE_LOGIN_DENIED:
      return {Error::Code::kDenied, std::string(said), "Check user and password."};
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {Error::Code::kInvalid, "the address cannot be used",
              "It begins with http://, https://, smtp:// or smtps://."};
    default:
      return {Error::Code::kIo, std::string(said), ""};
  }
}

/// Everything of a request but its address.
void put_request(CURL* handle, const HttpRequest& request, Sending& sending) {
  if (request.direct) curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  const std::string_view body = request.payload.data() != nullptr ? request.payload : std::string_view(request.body);
  if (request.method == "HEAD") {
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  } else if (request.method != "GET") {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    if (request.rate > 0 && !body.empty()) {
      sending = {body, body, request.rate};
      curl_easy_setopt(handle, CURLOPT_POST, 1L);
      curl_easy_setopt(handle, CURLOPT_READFUNCTION, give_body);
      curl_easy_setopt(handle, CURLOPT_READDATA, &sending);
      curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, seek_body);
      curl_easy_setopt(handle, CURLOPT_SEEKDATA, &sending);
    } else {
      curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.data());
    }
    curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, 512L * 1024);
  }
  if (request.stall.ns > 0) {
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(std::max(1.0, request.stall.seconds())));
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.stall.ns / 1'000'000));
  }
  if (request.rate > 0) {
    curl_easy_setopt(handle, CURLOPT_MAX_RECV_SPEED_LARGE, static_cast<curl_off_t>(request.rate));
  }
}

class CurlHttp final : public Http {
 public:
  explicit CurlHttp(bool keeps) : keeps_(keeps) { curl_global_init(CURL_GLOBAL_DEFAULT); }
  ~CurlHttp() override {
    idle_.clear();
    curl_global_cleanup();
  }
  CurlHttp(const CurlHttp&) = delete;
  CurlHttp& operator=(const CurlHttp&) = delete;

  Result<HttpAnswer> send(const HttpRequest& request) override {
    Handle handle = begin(request.url, "http,https", request.deadline);
    if (handle.get() == nullptr) return Error{Error::Code::kIo, "libcurl has no memory", ""};
    Answering answering;
    answering.limit = request.answer_limit;
    answering.handle = handle.get();
    answering.request = &request;
    answering.sockets = handle.sockets.get();
    std::vector<std::string> lines = request.headers;
    lines.emplace_back("Expect:");  // some servers never answer the question that it asks
    const List headers = list_of(lines);
    curl_easy_setopt(handle.get(), CURLOPT_HTTPHEADER, headers.get());
    Sending sending;
    put_request(handle.get(), request, sending);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &answering);
    curl_easy_setopt(handle.get(), CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(handle.get(), CURLOPT_HEADERDATA, &answering);
    std::array<char, CURL_ERROR_SIZE> detail{};
    curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, detail.data());
    const CURLcode code = curl_easy_perform(handle.get());
    if (code != CURLE_OK) return error_of(handle.get(), code, detail.data());
    long status = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    answering.answer.status = static_cast<int>(status);
    keep(std::move(handle));
    return std::move(answering.answer);
  }

  Result<void> mail(const MailRequest& request) override {
    const Handle handle = begin(request.server, "smtp,smtps", request.deadline);
    if (handle.get() == nullptr) return Error{Error::Code::kIo, "libcurl has no memory", ""};
    Sending sending{request.message, request.message};
    const List to = list_of(request.to);
    const auto tls = request.tls == MailRequest::Tls::kRequire     ? CURLUSESSL_ALL
                     : request.tls == MailRequest::Tls::kIfOffered ? CURLUSESSL_TRY
                                                                   : CURLUSESSL_NONE;
    curl_easy_setopt(handle.get(), CURLOPT_USE_SSL, static_cast<long>(tls));
    if (!request.user.empty()) {
      curl_easy_setopt(handle.get(), CURLOPT_USERNAME, request.user.c_str());
      curl_easy_setopt(handle.get(), CURLOPT_PASSWORD, request.password.c_str());
    }
    curl_easy_setopt(handle.get(), CURLOPT_MAIL_FROM, request.from.c_str());
    curl_easy_setopt(handle.get(), CURLOPT_MAIL_RCPT, to.get());
    curl_easy_setopt(handle.get(), CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_READFUNCTION, give_mail);
    curl_easy_setopt(handle.get(), CURLOPT_READDATA, &sending);
    std::array<char, CURL_ERROR_SIZE> detail{};
    curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, detail.data());
    const CURLcode code = curl_easy_perform(handle.get());
    if (code == CURLE_USE_SSL_FAILED) {
      return Error{Error::Code::kDenied, "the mail server offers no encryption",
                   "Use an smtps:// server, or allow it with tls = \"if-offered\"."};
    }
    if (code == CURLE_OK) return {};
    long reply = 0;  // of the server, to the last command: 5yz is final (RFC 5321, 4.2.1)
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &reply);
    Error error = error_of(handle.get(), code, detail.data());
    if (reply >= 500 && reply < 600) error.code = Error::Code::kDenied;
    return error;
  }

 private:
  Handle begin(const std::string& url, const char* protocols, Duration deadline) {
    Handle handle = take_idle();
    if (handle.get() == nullptr) handle.curl.reset(curl_easy_init());
    if (handle.get() == nullptr) return handle;
    const long ms = static_cast<long>(std::max<int64_t>(1, deadline.ns / 1'000'000));
    curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle.get(), CURLOPT_PROTOCOLS_STR, protocols);
    curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS, ms);
    curl_easy_setopt(handle.get(), CURLOPT_CONNECTTIMEOUT_MS, ms);
    curl_easy_setopt(handle.get(), CURLOPT_USERAGENT, "midwatch/" MIDWATCH_VERSION);
    curl_easy_setopt(handle.get(), CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    curl_easy_setopt(handle.get(), CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(handle.get(), CURLOPT_OPENSOCKETDATA, handle.sockets.get());
    curl_easy_setopt(handle.get(), CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(handle.get(), CURLOPT_CLOSESOCKETDATA, handle.sockets.get());
    if (const std::string file = authorities(); !file.empty()) {
      curl_easy_setopt(handle.get(), CURLOPT_CAINFO, file.c_str());
    }
    return handle;
  }

  /// One whose connection may still be open, for requests to come; after an error none is trusted.
  Handle take_idle() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return {};
    Handle handle = std::move(idle_.back());
    idle_.pop_back();
    return handle;
  }
  void keep(Handle handle) {
    if (!keeps_) return;
    curl_easy_reset(handle.get());  // its connections stay
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(handle));
  }

  const bool keeps_;
  std::mutex mutex_;
  std::vector<Handle> idle_;
};

}  // namespace

std::unique_ptr<Http> make_http(bool keeps_connections) { return std::make_unique<CurlHttp>(keeps_connections); }

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += cat('%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]);
    }
  }
  return out;
}

}  // namespace mw
