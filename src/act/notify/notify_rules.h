// Which channel is notified of what: the checked configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "act/notify/channels/channel.h"
#include "act/notify/channels/hook.h"
#include "base/time.h"
#include "core/incident.h"

namespace mw {

struct ChannelRule {
  ChannelSetting channel;
  std::optional<HookSetting> hook;  ///< a program in place of a channel; `channel` then has its name only
  std::vector<std::string> events;
  Severity least = Severity::kWarning;  ///< of incidents
  int per_hour = 20;
};

struct NotifySettings {
  std::vector<ChannelRule> channels;                  ///< by name, then the hooks
  Duration escalate_after = Duration::seconds(1800);  ///< 0: never
  int escalate_times = 3;
  std::vector<std::string> escalate_to;  ///< names of channels; none: all
  Duration give_up_after = Duration::seconds(6 * 3600);
};

}  // namespace mw
