// An S3 server within the process, between the S3 store and a fake one: it reads requests and writes answers as the API
// reference has them, and fails as servers do.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/numbers.h"
#include "base/text.h"
#include "platform/fake/fake_store.h"
#include "platform/http.h"

namespace mw {

class S3Server final : public Http {
 public:
  FakeStore behind;
  bool bare_etags = false;    ///< If-Match is compared without quotes, as Ceph's gateway does
  std::vector<int> statuses;  ///< of the next requests, in place of answers; 0: it is answered; -1: no answer comes,
                              ///< -2: it is done and no answer comes; -3: the body ends early
  uint64_t requests = 0;

  Result<HttpAnswer> send(const HttpRequest& request) override {
    ++requests;
    int status = 0;
    if (!statuses.empty()) {
      status = statuses.front();
      statuses.erase(statuses.begin());
    }
    if (status == -1) return Error{Error::Code::kInterrupted, "no answer within the deadline", ""};
    if (status > 0) return failed(status, status == 503 ? "SlowDown" : "AccessDenied");
    HttpAnswer answer = answered(request);
    if (status == -2) return Error{Error::Code::kIo, "the connection was closed", ""};
    if (status == -3) answer.body.resize(answer.body.size() / 2);
    const bool wanted = answer.status == 200 || answer.status == 206;
    if (request.sink && wanted && !answer.body.empty() && !request.sink(answer.body)) {
      return Error{Error::Code::kIo, "the receiver failed", ""};
    }
    if (status == -3) return Error{Error::Code::kIo, "the transfer was cut", ""};
    return answer;
  }
  Result<void> mail(const MailRequest&) override { return {}; }

 private:
  static HttpAnswer failed(int status, std::string_view code) {
    return {status,
            cat("<?xml version=\"1.0\"?><Error><Code>", code, "</Code><Message>it is so</Message></Error>"),
            -1,
            {}};
  }
  static HttpAnswer failed(const Error& error) {
    return error.code == Error::Code::kNotFound ? failed(404, "NoSuchKey") : failed(400, "InvalidPart");
  }
  static std::string header(const HttpRequest& request, std::string_view name) {
    for (const std::string& line : request.headers) {
      if (line.starts_with(cat(name, ": "))) return line.substr(name.size() + 2);
    }
    return {};
  }
  static std::string decoded(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        out += text[i];
        continue;
      }
      const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    }
    return out;
  }
  static std::string parameter(std::string_view query, std::string_view name) {
    for (const std::string_view one : split(query, '&')) {
      if (one.starts_with(cat(name, "="))) return decoded(one.substr(name.size() + 1));
    }
    return {};
  }
  static std::string quoted(std::string_view etag) { return cat("&quot;", etag, "&quot;"); }

  HttpAnswer answered(const HttpRequest& request) {
    const size_t path_at = request.url.find('/', request.url.find("://") + 3);
    const size_t mark = std::min(request.url.find('?'), request.url.size());
    const std::string path = decoded(request.url.substr(path_at, mark - path_at));
    const std::string query = mark < request.url.size() ? request.url.substr(mark + 1) : "";
    if (!path.starts_with("/bucket")) return failed(404, "NoSuchBucket");
    if (!header(request, "authorization").starts_with("AWS4-HMAC-SHA256 Credential=KEY/"))
      return failed(403, "AccessDenied");
    const std::string key = path.size() > 8 ? path.substr(8) : "";
    const bool sends = request.method == "PUT" || request.method == "POST";
    if (sends && header(request, "content-md5") != to_base64(md5(request.payload))) return failed(400, "BadDigest");
    if (contains(query, "uploads=") && request.method == "GET") return list_uploads(query);
    if (key.empty()) return list_objects(query);
    if (contains(query, "upload")) return multipart(request, key, query);
    if (request.method == "PUT") return put(request, key);
    if (request.method == "DELETE")
      return behind.remove(key).ok() ? HttpAnswer{204, "", -1, {}} : failed(500, "InternalError");
    return read(request, key);
  }

  HttpAnswer put(const HttpRequest& request, const std::string& key) {
    PutCondition condition;
    std::string etag = header(request, "if-match");
    if (header(request, "if-none-match") == "*") condition.when = PutCondition::When::kAbsent;
    if (!etag.empty()) {
      const bool has_quotes = etag.front() == '"';
      if (has_quotes != !bare_etags) return failed(412, "PreconditionFailed");
      condition = {PutCondition::When::kMatches, has_quotes ? etag.substr(1, etag.size() - 2) : etag};
    }
    const auto outcome = behind.put(key, request.payload, condition);
    if (!outcome.ok()) return failed(501, "NotImplemented");
    if (!outcome->stored) return failed(412, "PreconditionFailed");
    return {200, "", -1, {{"etag", cat("\"", outcome->etag, "\"")}}};
  }

  HttpAnswer read(const HttpRequest& request, const std::string& key) {
    const auto info = behind.head(key);
    if (!info.ok()) return failed(info.error());
    HttpAnswer answer{
        200, "", -1, {{"etag", cat("\"", info->etag, "\"")}, {"content-length", std::to_string(info->size)}}};
    if (request.method == "HEAD") return answer;
    uint64_t from = 0;
    int64_t size = -1;
    if (const std::string range = header(request, "range"); !range.empty()) {
      const auto numbers = split(std::string_view(range).substr(6), '-');
      from = static_cast<uint64_t>(*parse_int(numbers[0]));
      if (!numbers[1].empty()) size = *parse_int(numbers[1]) - static_cast<int64_t>(from) + 1;
      if (from >= static_cast<uint64_t>(info->size)) return failed(416, "InvalidRange");
      answer.status = 206;
    }
    (void)behind
        .get(key, from, size,
             [&](std::string_view bytes) -> Result<void> {
               answer.body += bytes;
               return {};
             })
        .ok();
    return answer;
  }

  HttpAnswer list_objects(const std::string& query) {
    const auto page = behind.list(parameter(query, "prefix"), parameter(query, "continuation-token"));
    std::string out = "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\"><Name>bucket</Name>";
    for (const ObjectInfo& one : page->objects) {
      out += cat("<Contents><Key>", percent_encode(one.key),
                 "</Key><LastModified>2026-01-15T08:00:00.000Z</LastModified><ETag>", quoted(one.etag), "</ETag><Size>",
                 one.size, "</Size></Contents>");
    }
    out += cat("<IsTruncated>", page->next.empty() ? "false" : "true", "</IsTruncated>");
    if (!page->next.empty()) out += cat("<NextContinuationToken>", page->next, "</NextContinuationToken>");
    return {200, out + "</ListBucketResult>", -1, {}};
  }

  HttpAnswer list_uploads(const std::string& query) {
    std::string out = "<ListMultipartUploadsResult>";
    const auto uploads = behind.uploads(parameter(query, "prefix"));
    for (const OpenUpload& one : *uploads) {
      out += cat("<Upload><Key>", percent_encode(one.key), "</Key><UploadId>", one.id,
                 "</UploadId><Initiated>2026-01-15T08:00:00.000Z</Initiated></Upload>");
    }
    return {200, out + "<IsTruncated>false</IsTruncated></ListMultipartUploadsResult>", -1, {}};
  }

  HttpAnswer multipart(const HttpRequest& request, const std::string& key, const std::string& query) {
    const std::string id = parameter(query, "uploadId");
    if (request.method == "DELETE") return behind.abort(key, id).ok() ? HttpAnswer{204, "", -1, {}} : failed(500, "");
    if (id.empty()) {
      return {200,
              cat("<InitiateMultipartUploadResult><Bucket>bucket</Bucket><UploadId>", *behind.begin_upload(key),
                  "</UploadId></InitiateMultipartUploadResult>"),
              -1,
              {}};
    }
    if (request.method == "PUT") {
      const auto part =
          behind.put_part(key, id, static_cast<int>(*parse_int(parameter(query, "partNumber"))), request.payload);
      return part.ok() ? HttpAnswer{200, "", -1, {{"etag", cat("\"", part->etag, "\"")}}} : failed(404, "NoSuchUpload");
    }
    const auto there = behind.parts(key, id);
    if (!there.ok()) return failed(404, "NoSuchUpload");
    if (request.method == "POST") return complete(request, key, id);
    // Two parts a page.
    const int64_t after = parse_int(parameter(query, "part-number-marker")).value_or(0);
    std::string out = "<ListPartsResult>";
    int listed = 0, last = 0;
    bool more = false;
    for (const UploadedPart& part : *there) {
      if (part.number <= after) continue;
      more = listed == 2;
      if (more) break;
      ++listed;
      last = part.number;
      out += cat("<Part><PartNumber>", part.number, "</PartNumber><ETag>", quoted(part.etag), "</ETag><Size>",
                 part.size, "</Size></Part>");
    }
    return {200,
            cat(out, "<NextPartNumberMarker>", last, "</NextPartNumberMarker><IsTruncated>", more ? "true" : "false",
                "</IsTruncated></ListPartsResult>"),
            -1,
            {}};
  }

  HttpAnswer complete(const HttpRequest& request, const std::string& key, const std::string& id) {
    std::vector<UploadedPart> parts;
    std::string_view body = request.payload;
    constexpr std::string_view kNumber = "<PartNumber>", kTag = "<ETag>&quot;";
    for (size_t at = body.find(kNumber); at != std::string_view::npos; at = body.find(kNumber)) {
      body.remove_prefix(at + kNumber.size());
      UploadedPart part;
      part.number = static_cast<int>(*parse_int(body.substr(0, body.find('<'))));
      body.remove_prefix(body.find(kTag) + kTag.size());
      part.etag = body.substr(0, body.find('&'));
      parts.push_back(part);
    }
    const auto done = behind.complete(key, id, parts);
    if (done.ok()) return {200, "<CompleteMultipartUploadResult><ETag></ETag></CompleteMultipartUploadResult>", -1, {}};
    return {200, "<Error><Code>InvalidPart</Code><Message>a part is not there</Message></Error>", -1, {}};
  }
};

}  // namespace mw
