#include "platform/s3/sign.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "platform/http.h"

namespace mw::s3 {
namespace {

/// "20130524T000000Z"
std::string stamp(Time now) {
  std::string out;
  for (const char c : format_utc({now.ns / 1'000'000'000 * 1'000'000'000})) {
    if (c != '-' && c != ':') out += c;
  }
  return out;
}

}  // namespace

std::string encode_path(std::string_view path) {
  std::string out;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    out += percent_encode(path.substr(0, slash)) + "/";
    path.remove_prefix(slash + 1);
  }
  return out + percent_encode(path);
}

std::string canonical_query(std::vector<std::pair<std::string, std::string>> query) {
  for (auto& [name, value] : query) {
    name = percent_encode(name);
    value = percent_encode(value);
  }
  std::sort(query.begin(), query.end());
  std::string out;
  for (const auto& [name, value] : query) out += cat(out.empty() ? "" : "&", name, "=", value);
  return out;
}

void sign(ToSign& request, const Credentials& credentials, std::string_view region, Time now) {
  const std::string when = stamp(now);
  request.headers.emplace_back("x-amz-date", when);
  request.headers.emplace_back("x-amz-content-sha256", request.payload_hash);
  if (!credentials.token.empty()) request.headers.emplace_back("x-amz-security-token", credentials.token);
  std::sort(request.headers.begin(), request.headers.end());
  std::string lines, names;
  for (const auto& [name, value] : request.headers) {
    lines += cat(name, ":", trim(value), "\n");
    names += cat(names.empty() ? "" : ";", name);
  }
  const std::string canonical = cat(request.method, "\n", request.path, "\n", canonical_query(request.query), "\n",
                                    lines, "\n", names, "\n", request.payload_hash);
  const std::string scope = cat(when.substr(0, 8), "/", region, "/s3/aws4_request");
  const std::string text = cat("AWS4-HMAC-SHA256\n", when, "\n", scope, "\n", to_hex(sha256(canonical)));
  std::string key = hmac_sha256(cat("AWS4", credentials.secret), when.substr(0, 8));
  for (const std::string_view piece : {region, std::string_view("s3"), std::string_view("aws4_request")}) {
    key = hmac_sha256(key, piece);
  }
  request.headers.emplace_back(
      "authorization", cat("AWS4-HMAC-SHA256 Credential=", credentials.key_id, "/", scope, ",SignedHeaders=", names,
                           ",Signature=", to_hex(hmac_sha256(key, text))));
}

}  // namespace mw::s3
