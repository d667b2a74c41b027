// The terminal that midwatch was started from: one line, and the bell.
#include <unistd.h>

#include <cerrno>

#include "act/notify/channels/channel.h"
#include "base/text.h"

namespace mw::channels {
namespace {

Sent send(const ChannelSetting&, const Message& message, Http&) {
  const std::string_view bell = isatty(STDERR_FILENO) == 1 ? "\a" : "";
  const std::string line = cat(bell, "midwatch: ", message_title(message), "\n");
  size_t at = 0;
  while (at < line.size()) {
    const ssize_t wrote = ::write(STDERR_FILENO, line.data() + at, line.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return {false, false, -1, "the terminal is gone"};
    at += static_cast<size_t>(wrote);
  }
  return {true, false, -1, "shown"};
}

std::string lacks(const ChannelSetting&) { return {}; }

}  // namespace

extern const ChannelKind terminal;
const ChannelKind terminal = {"terminal", send, lacks};

}  // namespace mw::channels
