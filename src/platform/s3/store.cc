#include "platform/s3/store.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <utility>

#include "base/digest.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/s3/answers.h"
#include "platform/s3/sign.h"

namespace mw::s3 {
namespace {

constexpr size_t kAnswerBytes = size_t{16} << 20;        // of an answer in XML; a page of 1000 keys has 1 MB at most
constexpr Duration kDeadline = Duration::seconds(3600);  // of one request that goes on, however slowly

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Call {
  std::string method, key;
  Pairs query, headers;
  Content payload = {};
  const ByteSink* sink = nullptr;
  bool conditional = false;
};

bool may_pass(int status) { return status == 429 || status == 500 || status == 502 || status == 503 || status == 504; }

/// Faults that another try may mend although their status does not say so.
bool may_pass(const Fault& fault) {
  return fault.code == "RequestTimeout" || fault.code == "BadDigest" || fault.code == "OperationAborted" ||
         fault.code == "SlowDown" || fault.code == "InternalError" || fault.code == "XAmzContentSHA256Mismatch";
}

Error::Code code_of(int status, const Fault& fault) {
  using Code = Error::Code;
  if (status == 501 || fault.code == "NotImplemented") return Code::kUnsupported;
  if (fault.code == "NoSuchBucket") return Code::kDenied;  // not an object that is absent: none can be there
  if (status == 404) return Code::kNotFound;
  if (status == 401 || status == 403) return Code::kDenied;
  if (status == 301 || status == 307 || status == 400 || status == 405) return Code::kInvalid;
  if (status == 507 || fault.code == "QuotaExceeded") return Code::kFull;
  return Code::kIo;
}

/// The message of an answer that is no success; secrets are none of it.
Error error_of(const HttpAnswer& answer, const std::string& what) {
  const Fault fault = parse_fault(answer.body);
  const std::string said = fault.code.empty() ? "" : cat(" ", fault.code);
  const std::string message =
      fault.message.empty() || fault.code == "SignatureDoesNotMatch" || fault.code == "InvalidAccessKeyId"
          ? ""
          : cat(": ", redact_secrets(fault.message));
  return {code_of(answer.status, fault), cat(what, ": the server answers ", answer.status, said, message),
          hint_of(answer.status, fault, escape_terminal(clip(answer.header("x-amz-bucket-region"), 40)))};
}

class Store final : public ObjectStore {
 public:
  Store(Settings settings, std::string bucket, Http& http, Clock& clock, std::function<void(Duration)> sleep,
        const Patience& patience)
      : settings_(std::move(settings)),
        bucket_(std::move(bucket)),
        http_(http),
        clock_(clock),
        sleep_(std::move(sleep)),
        patience_(patience) {
    const bool tls = settings_.endpoint.starts_with("https");
    const std::string_view scheme = tls ? "https://" : "http://", usual = tls ? ":443" : ":80";
    const std::string_view endpoint = settings_.endpoint;
    base_ = cat(scheme, settings_.path_style ? "" : cat(bucket_, "."),
                endpoint.substr(std::min(scheme.size(), endpoint.size())));
    // As libcurl sends it: without the port that goes without saying.
    std::string_view host = std::string_view(base_).substr(scheme.size());
    if (host.ends_with(usual)) host.remove_suffix(usual.size());
    host_ = host;
  }

  std::string name() const override { return "s3://" + bucket_; }

  Result<PutOutcome> put(const std::string& key, const Content& content, const PutCondition& condition) override {
    using When = PutCondition::When;
    if (condition.when != When::kMatches) {
      return put_once(key, content, condition.when == When::kAbsent ? Pairs{{"if-none-match", "*"}} : Pairs{});
    }
    // RFC 7232 wants the quotes; Ceph's gateway compares what stands there with an ETag without. A second try with the
    // other spelling compares and swaps as well as the first.
    auto outcome = put_once(key, content, {{"if-match", quoted_ ? cat("\"", condition.etag, "\"") : condition.etag}});
    if (!outcome.ok() || outcome->stored) return outcome;
    auto second = put_once(key, content, {{"if-match", quoted_ ? condition.etag : cat("\"", condition.etag, "\"")}});
    if (second.ok() && second->stored) quoted_ = !quoted_;
    return second;
  }

  Result<ObjectInfo> head(const std::string& key) override {
    const auto answer = ask({"HEAD", key, {}, {}, {}, nullptr, false});
    if (!answer.ok()) return answer.error();
    if (answer->status != 200) return error_of(*answer, key);
    const auto size = parse_int(answer->header("content-length"));
    if (!size) return Error{Error::Code::kIo, cat(key, ": the server does not say how large it is"), ""};
    return ObjectInfo{key, *size, etag_of(*answer), parse_http_date(answer->header("last-modified"))};
  }

  Result<void> get(const std::string& key, uint64_t offset, int64_t size, const ByteSink& sink) override;

  Result<ObjectPage> list(const std::string& prefix, const std::string& from) override {
    Pairs query = {{"list-type", "2"}, {"encoding-type", "url"}, {"prefix", prefix}};
    if (!from.empty()) query.emplace_back("continuation-token", from);
    const auto answer = ask({"GET", "", query, {}, {}, nullptr, false});
    if (!answer.ok()) return answer.error();
    if (answer->status != 200) return error_of(*answer, name());
    return parse_objects(answer->body);
  }

  Result<void> remove(const std::string& key) override {
    const auto answer = ask({"DELETE", key, {}, {}, {}, nullptr, false});
    if (!answer.ok()) return answer.error();
    if (answer->status / 100 != 2 && answer->status != 404) return error_of(*answer, key);
    return {};
  }

  Result<std::string> begin_upload(const std::string& key) override {
    const auto answer = ask({"POST", key, {{"uploads", ""}}, {}, {}, nullptr, false});
    if (!answer.ok()) return answer.error();
    if (answer->status != 200) return error_of(*answer, key);
    return parse_begun(answer->body);
  }

  Result<UploadedPart> put_part(const std::string& key, const std::string& upload, int number,
                                const Content& content) override {
    const Pairs query = {{"partNumber", std::to_string(number)}, {"uploadId", upload}};
    const auto answer = ask({"PUT", key, query, {}, content, nullptr, false});
    if (!answer.ok()) return answer.error();
    if (answer->status != 200) return error_of(*answer, cat(key, ", part ", number));
    return UploadedPart{number, static_cast<int64_t>(content.bytes.size()), etag_of(*answer)};
  }

  Result<std::vector<UploadedPart>> parts(const std::string& key, const std::string& upload) override {
    std::vector<UploadedPart> all;
    std::string next;
    do {
      Pairs query = {{"uploadId", upload}};
      if (!next.empty()) query.emplace_back("part-number-marker", next);
      const auto answer = ask({"GET", key, query, {}, {}, nullptr, false});
      if (!answer.ok()) return answer.error();
      if (answer->status != 200) return error_of(*answer, key);
      auto page = parse_parts(answer->body);
      if (!page.ok()) return page.error();
      if (!next.empty() && page->next == next) return Error{Error::Code::kIo, "the listing does not go on", ""};
      next = page->next;
      all.insert(all.end(), page->parts.begin(), page->parts.end());
    } while (!next.empty());
    return all;
  }

  Result<void> complete(const std::string& key, const std::string& upload,
                        const std::vector<UploadedPart>& parts) override {
    const std::string body = complete_body(parts);
    for (int tries = 1;; ++tries) {
      const auto answer = ask({"POST", key, {{"uploadId", upload}}, {}, body, nullptr, false});
      if (!answer.ok()) return answer.error();
      // It may answer 200 first and tell of a failure then.
      const Fault fault = parse_fault(answer->body);
      if (answer->status == 200 && fault.code.empty()) return {};
      if (answer->status != 200 || !may_pass(fault) || tries >= patience_.tries) return error_of(*answer, key);
      wait(tries, -1);
    }
  }

  Result<void> abort(const std::string& key, const std::string& upload) override {
    const auto answer = ask({"DELETE", key, {{"uploadId", upload}}, {}, {}, nullptr, false});
    if (!answer.ok()) return answer.error();
    if (answer->status / 100 != 2 && answer->status != 404) return error_of(*answer, key);
    return {};
  }

  Result<std::vector<OpenUpload>> uploads(const std::string& prefix) override {
    std::vector<OpenUpload> all;
    UploadsPage page;
    do {
      Pairs query = {{"uploads", ""}, {"encoding-type", "url"}, {"prefix", prefix}};
      if (!page.next_key.empty()) query.emplace_back("key-marker", page.next_key);
      if (!page.next_id.empty()) query.emplace_back("upload-id-marker", page.next_id);
      const auto answer = ask({"GET", "", query, {}, {}, nullptr, false});
      if (!answer.ok()) return answer.error();
      if (answer->status != 200) return error_of(*answer, name());
      auto next = parse_uploads(answer->body);
      if (!next.ok()) return next.error();
      if (!page.next_key.empty() && next->next_key == page.next_key && next->next_id == page.next_id) {
        return Error{Error::Code::kIo, "the listing does not go on", ""};
      }
      page = std::move(*next);
      all.insert(all.end(), page.uploads.begin(), page.uploads.end());
    } while (!page.next_key.empty());
    return all;
  }

 private:
  static std::string etag_of(const HttpAnswer& answer) {
    std::string_view etag = answer.header("etag");
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
    return std::string(etag);
  }

  Result<PutOutcome> put_once(const std::string& key, const Content& content, Pairs condition) {
    const bool conditional = !condition.empty();
    const auto answer = ask({"PUT", key, {}, std::move(condition), content, nullptr, conditional});
    if (!answer.ok()) return answer.error();
    if (answer->status == 200) return PutOutcome{true, etag_of(*answer)};
    // 409: another conditional request on the same key was under way (ConditionalRequestConflict).
    if (conditional && (answer->status == 412 || answer->status == 409 || answer->status == 304)) {
      return PutOutcome{false, ""};
    }
    if (conditional && answer->status == 404 && parse_fault(answer->body).code == "NoSuchKey") {
      return PutOutcome{false, ""};
    }
    return error_of(*answer, key);
  }

  HttpRequest request_of(const Call& call) const {
    HttpRequest request;
    request.method = call.method;
    ToSign to_sign;
    to_sign.method = call.method;
    to_sign.path =
        encode_path(cat(settings_.path_style ? cat("/", bucket_) : "", call.key.empty() ? "" : "/", call.key));
    if (to_sign.path.empty()) to_sign.path = "/";
    to_sign.query = call.query;
    to_sign.headers = call.headers;
    to_sign.headers.emplace_back("host", host_);
    if (call.method == "PUT" || call.method == "POST") {
      // The server compares what came with this sum; it is signed, so the body need not be.
      to_sign.headers.emplace_back("content-md5", to_base64(call.payload.sum()));
      to_sign.headers.emplace_back("content-type", "application/octet-stream");
      request.payload = call.payload.bytes.data() == nullptr ? std::string_view("") : call.payload.bytes;
    }
    sign(to_sign, settings_.credentials, settings_.region, clock_.now() + Duration{skew_ns_.load()});
    const std::string query = canonical_query(to_sign.query);
    request.url = cat(base_, to_sign.path, query.empty() ? "" : "?", query);
    for (const auto& [name, value] : to_sign.headers) {
      if (name != "host") request.headers.push_back(cat(name, ": ", value));
    }
    request.deadline = kDeadline;
    request.stall = patience_.stall;
    request.rate = settings_.rate;
    request.answer_limit = kAnswerBytes;
    request.want_headers = true;
    return request;
  }

  void wait(int tries, double asked_s) {
    double most = patience_.first.seconds();
    for (int i = 1; i < tries; ++i) most = std::min(most * 2, patience_.longest.seconds());
    double part = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      part = std::uniform_real_distribution<double>(0.5, 1.0)(chance_);
    }
    sleep_(Duration::seconds(std::min(std::max(most * part, asked_s), patience_.longest.seconds())));
  }

  /// The server's clock is the one that signatures are judged by.
  bool learn_time(const HttpAnswer& answer) {
    const Time server = parse_http_date(answer.header("date"));
    if (!server.known() || parse_fault(answer.body).code != "RequestTimeTooSkewed") return false;
    const int64_t skew = (server - clock_.now()).ns;
    const int64_t before = skew_ns_.exchange(skew);
    return std::max(skew - before, before - skew) > Duration::seconds(60).ns;
  }

  /// One request, tried again while that may help. Any other status is an answer.
  Result<HttpAnswer> ask(const Call& call) {
    for (int tries = 1;; ++tries) {
      auto answer = http_.send(request_of(call));
      const bool last = tries >= patience_.tries;
      if (!answer.ok()) {
        const Error::Code code = answer.error().code;
        const bool final = code == Error::Code::kDenied || code == Error::Code::kInvalid;
        if (final || last) return with_name(answer.error());
        wait(tries, -1);
        continue;
      }
      if (answer->status == 403 && !last && learn_time(*answer)) continue;
      const bool again = may_pass(answer->status) || (answer->status >= 400 && may_pass(parse_fault(answer->body)));
      if (!again || last) return answer;
      wait(tries, answer->retry_after_s);
    }
  }

  /// A server that is not found is no object that is absent.
  Error with_name(const Error& error) const {
    const Error::Code code = error.code == Error::Code::kNotFound ? Error::Code::kIo : error.code;
    return {code, cat(settings_.endpoint, ": ", error.what), error.hint};
  }

  const Settings settings_;
  const std::string bucket_;
  std::string host_, base_;
  Http& http_;
  Clock& clock_;
  const std::function<void(Duration)> sleep_;
  const Patience patience_;
  std::atomic<bool> quoted_{true};   ///< If-Match has its ETag in quotes
  std::atomic<int64_t> skew_ns_{0};  ///< of the server's clock against this machine's
  std::mutex mutex_;                 ///< of what follows
  std::minstd_rand chance_{std::random_device{}()};
};

/// What came stays with the receiver: after a cut the rest is asked for.
Result<void> Store::get(const std::string& key, uint64_t offset, int64_t size, const ByteSink& sink) {
  if (size == 0) return {};
  uint64_t got = 0;
  Result<void> refused;
  for (int tries = 1;; ++tries) {
    Call call{"GET", key, {}, {}, {}, nullptr, false};
    const uint64_t from = offset + got;
    if (size >= 0) {
      call.headers.emplace_back("range", cat("bytes=", from, "-", offset + static_cast<uint64_t>(size) - 1));
    } else if (from > 0) {
      call.headers.emplace_back("range", cat("bytes=", from, "-"));
    }
    HttpRequest request = request_of(call);
    const uint64_t limit = size < 0 ? UINT64_MAX : static_cast<uint64_t>(size);
    const uint64_t before = got;
    request.sink = [&](std::string_view bytes) {
      if (got + bytes.size() > limit) return false;  // more than was asked for: it did not heed the range
      refused = sink(bytes);
      if (refused.ok()) got += bytes.size();
      return refused.ok();
    };
    const auto answer = http_.send(request);
    if (!refused.ok()) return refused;
    if (got > before) tries = 1;
    const bool last = tries >= patience_.tries;
    double asked_s = -1;
    if (answer.ok()) {
      const bool whole = answer->status == 206 || (answer->status == 200 && call.headers.empty());
      if (whole || answer->status == 416) return {};  // 416: it ends before
      if (answer->status == 403 && !last && learn_time(*answer)) continue;
      if (!may_pass(answer->status) || last) {
        if (answer->status == 200)
          return Error{Error::Code::kUnsupported, cat(key, ": the server knows no ranges"), ""};
        return error_of(*answer, key);
      }
      asked_s = answer->retry_after_s;
    } else if (last || answer.error().code == Error::Code::kDenied || answer.error().code == Error::Code::kInvalid) {
      return with_name(answer.error());
    } else if (size >= 0 && got == static_cast<uint64_t>(size)) {
      return {};
    }
    wait(tries, asked_s);
  }
}

}  // namespace

std::unique_ptr<ObjectStore> make_store(const Settings& settings, const std::string& bucket, Http& http, Clock& clock,
                                        std::function<void(Duration)> sleep, const Patience& patience) {
  return std::make_unique<Store>(settings, bucket, http, clock, std::move(sleep), patience);
}

}  // namespace mw::s3
