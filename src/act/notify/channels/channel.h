// Channels for notifications: one file each. A send may block until its deadline, so it runs on a worker thread.
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

/// The result of a send.
struct Sent {
  bool ok = false;
  bool again = false;         ///< not ok, but another try may succeed
  double retry_after_s = -1;  ///< the receiver asks to wait for so long; -1: it does not say
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

/// Sends the message, and removes the setting's secrets from the result.
Sent send_message(const ChannelSetting& setting, const Message& message, Http& http);

// ---- shared by the channels that use HTTP
/// 2xx is ok; 408, 425, 429, 5xx and no answer are worth another try; anything else is not.
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
