#include "act/notify/channels/channel.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace mw {
namespace channels {
extern const ChannelKind terminal, webhook, slack, discord, ntfy, email;
}

namespace {

constexpr size_t kSaidLimit = 200;  // bytes kept of a server's answer

void hide(std::string& text, const std::string& secret) {
  constexpr size_t kLeastSecret = 4;  // replacing a shorter one would hide half the text
  if (secret.size() < kLeastSecret) return;
  for (size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at)) {
    text.replace(at, secret.size(), "<hidden>");
  }
}

}  // namespace

std::span<const ChannelKind> channel_kinds() {
  static const std::array kKinds = {channels::terminal, channels::webhook, channels::slack,
                                    channels::discord,  channels::ntfy,    channels::email};
  return kKinds;
}

const ChannelKind* find_channel_kind(std::string_view name) {
  for (const ChannelKind& kind : channel_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

Sent send_message(const ChannelSetting& setting, const Message& message, Http& http) {
  const ChannelKind* kind = find_channel_kind(setting.kind);
  if (kind == nullptr) return {false, false, -1, cat("there is no kind of channel called ", setting.kind)};
  if (std::string lacking = kind->lacks(setting); !lacking.empty()) return {false, false, -1, std::move(lacking)};
  Sent sent = kind->send(setting, message, http);
  hide(sent.said, setting.url);
  hide(sent.said, setting.token);
  hide(sent.said, setting.password);
  sent.said = clip(redact_secrets(sent.said), kSaidLimit + 100);
  std::replace(sent.said.begin(), sent.said.end(), '\n', ' ');
  return sent;
}

Sent sent_by(const Result<HttpAnswer>& answer) {
  if (!answer.ok()) return {false, answer.error().code != Error::Code::kInvalid, -1, answer.error().what};
  const int status = answer->status;
  const std::string body = clip(trim(answer->body), kSaidLimit);
  Sent sent;
  sent.ok = status >= 200 && status < 300;
  sent.again = !sent.ok && (status == 408 || status == 425 || status == 429 || status >= 500);
  sent.retry_after_s = answer->retry_after_s;
  sent.said = cat("HTTP ", status, body.empty() || sent.ok ? "" : ": ", sent.ok ? "" : body);
  if (status >= 300 && status < 400) sent.said += " (a redirect; set the final address)";
  return sent;
}

std::string lacks_url(const ChannelSetting& setting) {
  if (setting.url.empty()) return "it has no url";
  if (setting.url.rfind("https://", 0) != 0 && setting.url.rfind("http://", 0) != 0) {
    return "its url does not begin with https:// or http://";
  }
  return {};
}

HttpRequest json_post(const ChannelSetting& setting, std::string url, std::string body) {
  HttpRequest request;
  request.url = std::move(url);
  request.headers = {"Content-Type: application/json"};
  if (!setting.token.empty()) request.headers.push_back(cat("Authorization: Bearer ", setting.token));
  request.body = std::move(body);
  request.deadline = setting.timeout;
  return request;
}

}  // namespace mw
