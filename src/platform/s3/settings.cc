#include "platform/s3/settings.h"

#include "base/text.h"
#include "platform/durable.h"

namespace mw::s3 {
namespace {

/// The first of these variables that is set and not empty.
std::string first_of(const Environment& environment, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto value = environment(name);
    if (value && !value->empty()) return *value;
  }
  return {};
}

std::string text_of(Disk& disk, const std::string& path) {
  const auto text = read_small(disk, path);
  return text.ok() ? *text : std::string();
}

bool has_control(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f) return true;
  }
  return false;
}

/// A bucket whose name has dots fits no certificate as a part of a host's name.
bool wants_path_style(Addressing addressing, bool of_aws, const std::string& bucket) {
  if (addressing != Addressing::kAuto) return addressing == Addressing::kPath;
  return !of_aws || contains(bucket, ".");
}

}  // namespace

std::string ini_value(std::string_view text, std::string_view section, std::string_view name) {
  bool inside = false;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      inside = line.ends_with(']') && trim(line.substr(1, line.size() - 2)) == section;
      continue;
    }
    const size_t equals = line.find('=');
    if (!inside || raw.starts_with(' ') || raw.starts_with('\t') || equals == std::string_view::npos) continue;
    if (trim(line.substr(0, equals)) == name) return std::string(trim(line.substr(equals + 1)));
  }
  return {};
}

Result<Settings> find_settings(const Given& given, const std::string& bucket, const Environment& environment,
                               Disk& disk) {
  const std::string home = first_of(environment, {"HOME"});
  std::string profile = given.profile.empty() ? first_of(environment, {"AWS_PROFILE"}) : given.profile;
  const bool named = !profile.empty();
  if (!named) profile = "default";
  std::string file = first_of(environment, {"AWS_SHARED_CREDENTIALS_FILE"});
  const std::string secrets = text_of(disk, file.empty() ? home + "/.aws/credentials" : file);
  file = first_of(environment, {"AWS_CONFIG_FILE"});
  const std::string config = text_of(disk, file.empty() ? home + "/.aws/config" : file);
  const std::string section = profile == "default" ? profile : cat("profile ", profile);

  Settings settings;
  Credentials& credentials = settings.credentials;
  if (given.profile.empty()) {
    credentials = {first_of(environment, {"AWS_ACCESS_KEY_ID"}), first_of(environment, {"AWS_SECRET_ACCESS_KEY"}),
                   first_of(environment, {"AWS_SESSION_TOKEN"})};
  }
  if (credentials.key_id.empty() || credentials.secret.empty()) {
    credentials = {ini_value(secrets, profile, "aws_access_key_id"),
                   ini_value(secrets, profile, "aws_secret_access_key"),
                   ini_value(secrets, profile, "aws_session_token")};
  }
  if (credentials.key_id.empty() || credentials.secret.empty()) {
    return Error{Error::Code::kDenied,
                 named ? cat("there are no credentials for the profile ", profile)
                       : std::string("there are no credentials for the object store"),
                 "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or have them in ~/.aws/credentials (AWS_PROFILE "
                 "names the section)."};
  }
  settings.region = given.region.empty() ? first_of(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"}) : given.region;
  if (settings.region.empty()) settings.region = ini_value(config, section, "region");
  if (settings.region.empty()) settings.region = "us-east-1";
  settings.endpoint =
      given.endpoint.empty() ? first_of(environment, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}) : given.endpoint;
  if (settings.endpoint.empty()) settings.endpoint = ini_value(config, section, "endpoint_url");
  const bool of_aws = settings.endpoint.empty();
  if (of_aws) settings.endpoint = cat("https://s3.", settings.region, ".amazonaws.com");
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  const std::string& endpoint = settings.endpoint;
  if (!(endpoint.starts_with("https://") || endpoint.starts_with("http://")) || has_control(endpoint) ||
      contains(endpoint, "@") || endpoint.find('/', 8) != std::string::npos || has_control(settings.region)) {
    return Error{Error::Code::kInvalid, "the endpoint of the object store is no address",
                 "It looks like https://host or http://host:port, without a path or a login."};
  }
  settings.path_style = wants_path_style(given.addressing, of_aws, bucket);
  return settings;
}

}  // namespace mw::s3
