// Ways to tell people: one file each. Sending may block up to its deadline, so it is done on a worker's thread.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "act/notify/channels/message.h"
#include "base/time.h"
#include "platform/http.h"

namespace mw {

/// A channel as a person set it up, with its secrets revealed. Never recorded, never shown.
struct ChannelSetting {
  std::string name;
  std::string kind;  ///< "webhook", "slack", …
  std::string url, token;
  Duration timeout = Duration::seconds(10);
  // e-mail
  std::vector<std::string> to;
  std::string from, server, user, password, tls;
  std::vector<std::string> sendmail;  ///< the program and its first arguments; used where there is no server
};

/// How a send came out.
struct Sent {
  bool ok = false;
  bool again = false;         ///< not ok, but another try may go better
  double retry_after_s = -1;  ///< the receiver asks for so much patience; -1: it says nothing
  std::string said;           ///< one line for people, without secrets
};

struct ChannelKind {
  std::string_view name;
  Sent (*send)(const ChannelSetting& setting, const Message& message, Http& http);
  /// What is missing or wrong in a setting, in one sentence; "" when it is complete.
  std::string (*lacks)(const ChannelSetting& setting);
};

std::span<const ChannelKind> channel_kinds();
const ChannelKind* find_channel_kind(std::string_view name);

/// Sends, and takes whatever is secret out of what came back.
Sent send_message(const ChannelSetting& setting, const Message& message, Http& http);

// ---- shared by the channels that speak HTTP
/// 2xx is ok; 408, 425, 429 and 5xx may go better later, as may no answer at all; anything else will not.
Sent sent_by(const Result<HttpAnswer>& answer);
std::string lacks_url(const ChannelSetting& setting);
HttpRequest json_post(const ChannelSetting& setting, std::string url, std::string body);

// ---- the requests, apart from their sending, for tests
HttpRequest webhook_request(const ChannelSetting& setting, const Message& message);
HttpRequest slack_request(const ChannelSetting& setting, const Message& message);
HttpRequest discord_request(const ChannelSetting& setting, const Message& message);
HttpRequest ntfy_request(const ChannelSetting& setting, const Message& message);
std::string mail_text(const ChannelSetting& setting, const Message& message);

}  // namespace mw
