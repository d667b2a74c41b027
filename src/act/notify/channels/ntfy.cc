// ntfy.sh, or a server of one's own (docs.ntfy.sh/publish/#publish-as-json). The url is that of the topic.
#include "act/notify/channels/channel.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kMessageLimit = 4000;  // bytes; beyond 4096 the server makes a file of it

/// "https://ntfy.sh/my-topic" → "https://ntfy.sh/", "my-topic".
std::pair<std::string, std::string> split_topic(std::string url) {
  while (!url.empty() && url.back() == '/') url.pop_back();
  const size_t slash = url.rfind('/');
  const size_t host = url.find("://");
  if (slash == std::string::npos || host == std::string::npos || slash < host + 3) return {url, ""};
  return {url.substr(0, slash + 1), url.substr(slash + 1)};
}

std::string lacks(const ChannelSetting& setting) {
  if (std::string lacking = lacks_url(setting); !lacking.empty()) return lacking;
  return split_topic(setting.url).second.empty() ? "its url names no topic: https://ntfy.sh/TOPIC" : "";
}

}  // namespace

HttpRequest ntfy_request(const ChannelSetting& setting, const Message& message) {
  const auto [server, topic] = split_topic(setting.url);
  const Severity severity = leading(message).severity;
  std::string body;
  {
    JsonWriter json(body);
    json.begin_object().key("topic").string(topic).key("title").string(message_title(message));
    json.key("message").string(message_text(message, kMessageLimit));
    json.key("priority").integer(severity == Severity::kCritical ? 5 : severity == Severity::kWarning ? 4 : 3);
    json.key("tags").begin_array();
    json.string(severity == Severity::kCritical  ? "rotating_light"
                : severity == Severity::kWarning ? "warning"
                                                 : "eyes");
    json.end_array().end_object();
  }
  return json_post(setting, server, std::move(body));
}

namespace channels {
namespace {

Sent send(const ChannelSetting& setting, const Message& message, Http& http) {
  return sent_by(http.send(ntfy_request(setting, message)));
}

}  // namespace

extern const ChannelKind ntfy;
const ChannelKind ntfy = {"ntfy", send, lacks};

}  // namespace channels
}  // namespace mw
