// AWS Signature Version 4, as S3 wants it ("Authenticating Requests (AWS Signature Version 4)", Amazon S3 API
// Reference).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace mw::s3 {

struct Credentials {
  std::string key_id, secret;
  std::string token;  ///< of temporary credentials; "": these last
};

struct ToSign {
  std::string method;
  std::string path = "/";                                    ///< as it is sent: percent-encoded
  std::vector<std::pair<std::string, std::string>> query;    ///< names and values, not encoded
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case, "host" among them; all are signed
  std::string payload_hash = "UNSIGNED-PAYLOAD";             ///< or the SHA-256 of the body in hexadecimal
};

/// The query as it is signed and sent: encoded, ordered by name.
std::string canonical_query(std::vector<std::pair<std::string, std::string>> query);
/// An object's path: each byte but unreserved ones and '/' percent-encoded.
std::string encode_path(std::string_view path);

/// Adds x-amz-date, x-amz-content-sha256, x-amz-security-token (where there is one) and authorization to the headers.
void sign(ToSign& request, const Credentials& credentials, std::string_view region, Time now);

}  // namespace mw::s3
