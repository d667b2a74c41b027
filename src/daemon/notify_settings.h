// Who is to be told of what: the [notify] part of midwatch.toml, ready for use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actions/channel.h"
#include "actions/hook.h"
#include "base/result.h"
#include "core/knowledge.h"
#include "daemon/config.h"
#include "platform/disk.h"

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

/// Reveals the secrets. An error says which channel cannot be used and why, with the line of the file.
Result<NotifySettings> notify_settings(Disk& disk, const Config& config);

/// What is wrong between keys that are each right by themselves: a channel without a kind or an address, a name that is
/// no channel's.
std::vector<ConfigProblem> notify_problems(const Config& config);

}  // namespace mw
