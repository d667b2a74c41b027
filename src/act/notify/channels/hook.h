// A user's own program, run when something happens.
#pragma once

#include <string>
#include <vector>

#include "act/notify/channels/channel.h"
#include "act/notify/channels/message.h"
#include "base/time.h"

namespace mw {

struct HookSetting {
  std::string name;
  std::vector<std::string> command;
  std::string folder;  ///< its working directory
  Duration timeout = Duration::seconds(60);
};

/// Runs it with the message as JSON (docs/formats/notification.md) on its standard input and MIDWATCH_EVENT,
/// MIDWATCH_KEY, MIDWATCH_RUN, MIDWATCH_INCIDENT in its environment, until it ends or its time is over. What it wrote
/// is in `output`, at most 1 MiB of it, with a last line that says how it ended. It is never tried again: it may have
/// done half its work.
Sent run_hook(const HookSetting& setting, const Message& message, std::string& output);

}  // namespace mw
