// Discord's webhooks (docs.discord.com/developers/resources/webhook#execute-webhook).
#include "act/notify/channels/channel.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kTitleLimit = 256, kDescriptionLimit = 4096;  // characters of an embed, by the same page

/// Escapes `text`, so that nothing in it becomes markup.
std::string escape(std::string_view text, size_t limit) {
  constexpr std::string_view kMarkup = "\\*_~`|[]()<>#-";
  std::string out;
  for (const char c : text) {
    if (out.size() + 2 > limit) break;
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return sanitize_utf8(out);
}

int64_t colour_of(Severity severity) {
  return severity == Severity::kCritical ? 0xD32F2F : severity == Severity::kWarning ? 0xF9A825 : 0x607D8B;
}

}  // namespace

HttpRequest discord_request(const ChannelSetting& setting, const Message& message) {
  std::string body;
  {
    JsonWriter json(body);
    json.begin_object().key("username").string("midwatch");
    json.key("allowed_mentions").begin_object().key("parse").begin_array().end_array().end_object();
    json.key("embeds").begin_array().begin_object();
    json.key("title").string(escape(message_title(message), kTitleLimit));
    json.key("description").string(escape(message_text(message, kDescriptionLimit), kDescriptionLimit));
    json.key("color").integer(colour_of(leading(message).severity));
    if (message.at.known()) json.key("timestamp").string(format_utc(message.at));
    json.end_object().end_array().end_object();
  }
  ChannelSetting plain = setting;
  plain.token.clear();  // the address is the secret
  return json_post(plain, setting.url, std::move(body));
}

namespace channels {
namespace {

Sent send(const ChannelSetting& setting, const Message& message, Http& http) {
  return sent_by(http.send(discord_request(setting, message)));
}

}  // namespace

extern const ChannelKind discord;
const ChannelKind discord = {"discord", send, lacks_url};

}  // namespace channels
}  // namespace mw
