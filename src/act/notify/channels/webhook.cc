// Any server that accepts the JSON of docs/formats/notification.md.
#include "act/notify/channels/channel.h"
#include "base/text.h"

namespace mw {

HttpRequest webhook_request(const ChannelSetting& setting, const Message& message) {
  HttpRequest request = json_post(setting, setting.url, message_json(message));
  // The header that receivers look at to drop a repeat (draft-ietf-httpapi-idempotency-key-header).
  request.headers.push_back(cat("Idempotency-Key: \"", percent_encode(message_key(message)), "\""));
  return request;
}

namespace channels {
namespace {

Sent send(const ChannelSetting& setting, const Message& message, Http& http) {
  return sent_by(http.send(webhook_request(setting, message)));
}

}  // namespace

extern const ChannelKind webhook;
const ChannelKind webhook = {"webhook", send, lacks_url};

}  // namespace channels
}  // namespace mw
