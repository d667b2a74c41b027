// Slack's incoming webhooks (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks), and compatible
// servers (Mattermost, Rocket.Chat).
#include "act/notify/channels/channel.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kHeaderLimit = 150, kSectionLimit = 3000;  // characters; docs.slack.dev/reference/block-kit/blocks

/// Slack's three control characters; without them nothing in a text is a link, a mention or an entity.
std::string escape(std::string_view text, size_t limit) {
  std::string out;
  for (const char c : text) {
    const std::string_view piece = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string_view(&c, 1);
    if (out.size() + piece.size() > limit) break;
    out += piece;
  }
  return sanitize_utf8(out);
}

}  // namespace

HttpRequest slack_request(const ChannelSetting& setting, const Message& message) {
  const std::string_view sign = leading(message).severity == Severity::kCritical  ? ":red_circle: "
                                : leading(message).severity == Severity::kWarning ? ":large_yellow_circle: "
                                                                                  : ":white_circle: ";
  const std::string title = message_title(message);
  std::string body;
  {
    JsonWriter json(body);
    json.begin_object().key("text").string(escape(title, kSectionLimit));
    json.key("blocks").begin_array();
    json.begin_object().key("type").string("header").key("text").begin_object();
    json.key("type").string("plain_text").key("text").string(cat(sign, clip(title, kHeaderLimit - 30))).end_object();
    json.end_object();
    json.begin_object().key("type").string("section").key("text").begin_object();
    json.key("type").string("mrkdwn").key("text").string(escape(message_text(message, kSectionLimit), kSectionLimit));
    json.key("verbatim").boolean(true).end_object().end_object();
    json.end_array().end_object();
  }
  ChannelSetting plain = setting;
  plain.token.clear();  // the address is the secret
  return json_post(plain, setting.url, std::move(body));
}

namespace channels {
namespace {

Sent send(const ChannelSetting& setting, const Message& message, Http& http) {
  return sent_by(http.send(slack_request(setting, message)));
}

}  // namespace

extern const ChannelKind slack;
const ChannelKind slack = {"slack", send, lacks_url};

}  // namespace channels
}  // namespace mw
