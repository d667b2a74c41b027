// How an S3-compatible store is reached, from where its own tools take it: the environment and ~/.aws.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "platform/disk.h"
#include "platform/s3/sign.h"

namespace mw::s3 {

enum class Addressing { kAuto, kPath, kHost };  ///< where the bucket stands: https://host/bucket or https://bucket.host

struct Settings {
  std::string endpoint;  ///< "https://host[:port]"; without a slash at the end
  std::string region;
  bool path_style = true;
  Credentials credentials;
  int64_t rate = 0;  ///< bytes a second of each request, at most; 0: no limit
};

/// What a person may give besides; "": as the environment says.
struct Given {
  std::string endpoint, region, profile;
  Addressing addressing = Addressing::kAuto;
};

/// A variable of the environment; nullopt: it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

/// Credentials: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; else the profile (AWS_PROFILE, "default")
/// of ~/.aws/credentials (AWS_SHARED_CREDENTIALS_FILE). Region: AWS_REGION, AWS_DEFAULT_REGION, the profile in
/// ~/.aws/config (AWS_CONFIG_FILE), us-east-1. Endpoint: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile, AWS. A
/// machine's metadata service is never asked. kDenied: there are no credentials.
Result<Settings> find_settings(const Given& given, const std::string& bucket, const Environment& environment,
                               Disk& disk);

/// The value of `name` in the section of an INI file as AWS's tools write them; "" when it has none.
std::string ini_value(std::string_view text, std::string_view section, std::string_view name);

}  // namespace mw::s3
