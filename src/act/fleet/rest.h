// What the providers with an HTTP API share: who asks, with which key, what is tried again, and what an answer means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "act/fleet/provider.h"
#include "base/json.h"
#include "base/secrets.h"

namespace mw::fleet {

/// Holds the start script on machines whose API takes no script, only variables.
inline constexpr std::string_view kStartVariable = "MIDWATCH_FLEET_START";
constexpr size_t kMostMachines = 10'000;  // offers or instances of one provider; more is no answer

struct RestAnswer {
  int status = 0;
  Json json;             ///< null, where the body is none
  bool is_json = false;  ///< an empty body is none
  bool ok() const { return status >= 200 && status < 300; }
};

class RestApi {
 public:
  struct Place {
    std::string_view endpoint;  ///< where `endpoint` is not set
    std::string_view variable;  ///< that holds the key, unless `key_file` names a file that does
  };
  /// kInvalid: there is no key, or the endpoint would carry it unencrypted to another machine.
  static Result<RestApi> open(const ProviderSpec& spec, const ProviderDoors& doors, const Place& place);

  /// For what changes nothing: tried up to three times, at the times that the server asks for. What it gives is JSON of
  /// a status of success; all else is an error.
  Result<Json> read(std::string_view method, std::string_view path, const std::string& body = "") const;
  /// For what changes something: sent once. Errors only where no answer came, or not all of it.
  Result<RestAnswer> write(std::string_view method, std::string_view path, const std::string& body) const;

  /// What an answer without success means. kDenied (401, 402, 403), kNotFound, kFull (429), kInvalid (other 4xx): it
  /// was not done. kIo: nobody knows. With the words of the API, as far as they hold no secret.
  Error refusal(std::string_view operation, const RestAnswer& answer) const;
  /// `text` of a foreign API as it may be shown: short, without the key and without what `hide` was given.
  std::string shown(std::string_view text) const;
  /// These values are secrets of the machine that is being rented; an API that refuses may quote them.
  void hide(const std::map<std::string, std::string>& environment);

 private:
  Result<RestAnswer> send(std::string_view method, std::string_view path, const std::string& body,
                          double& retry_after) const;

  ProviderDoors doors_;
  std::string endpoint_, key_;
  std::string key_place_;  ///< where the key comes from, in words
  KnownSecrets secrets_;
  std::vector<std::string> values_;  ///< likewise, whatever they look like
};

/// A text or a whole number as a text, clipped; "" where there is neither.
std::string text_of(const Json& json, std::string_view key);
/// The first message that an API's error has, in the usual places; "".
std::string message_of(const Json& json);

/// The part of a program's output that is its JSON: warnings may stand before and behind it.
std::string_view json_within(std::string_view output);

/// How much more than the least bid is bid, so that the next one does not outbid it: 0.1, or the setting `bid_margin`.
double bid_margin_of(const ProviderSpec& spec);

}  // namespace mw::fleet
